"""The journal: written before anything is done, and read again at a start."""
