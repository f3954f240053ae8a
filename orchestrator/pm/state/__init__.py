"""The state of one task: what it is made of, what changes it, and which moves are legal."""
