"""File operations of agents that touch no file: planned, applied as one transaction, rolled back, undone.

Unfinished: nothing in the daemon uses this room yet. Missing are `hands: operations` in task.md, reading an agent's
output when its turn ends, the answer to it and its three tries, the confirmation of deletes by a person, the record in
progress.md, recovery at the daemon's start, and `task undo`.
"""
