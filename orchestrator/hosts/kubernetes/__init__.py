"""Agents as pods of Kubernetes: the host kind `k8s`, which creates a bare pod for each run by the user's `kubectl`."""
