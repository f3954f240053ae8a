"""Agents as jobs of a cluster: the host kind `slurm`, which starts programs by `srun … PROGRAM`."""
