"""What the daemon does in the world: one file per kind of action. Each returns the fact that is its outcome."""
