"""File operations as an agent writes them: found in its text, read, and laid over a file (FILES)."""
