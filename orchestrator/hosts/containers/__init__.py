"""Agents in containers: the host kinds `podman` and `docker`, which start programs by `podman run … IMAGE PROGRAM`."""
