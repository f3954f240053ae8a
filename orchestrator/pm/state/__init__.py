"""The state of one task: its parts, its changes, and the legal transitions."""
