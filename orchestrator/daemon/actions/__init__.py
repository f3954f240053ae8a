"""The actions of the daemon: one file per kind of action. Each returns the fact that is its outcome."""
