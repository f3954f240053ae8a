"""File operations of agents that touch no file: planned, applied as one transaction, rolled back, undone."""
