"""The state as files that anyone can read."""
