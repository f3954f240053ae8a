"""A Kubernetes of its own for tests: an API server on loopback that knows pods, and a node that is this machine.

What it gets and what it answers is held against the published schema (`tests/fixtures/kubernetes`). `kubectl` is real.
"""
