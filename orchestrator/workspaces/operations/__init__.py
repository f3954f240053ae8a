"""File operations of agents that touch no file: planned, applied as one transaction, rolled back.

An agent of `hands: operations` (task.md) hands them in as text; `settle` carries them out when its run has ended. No
command offers to undo a transaction later (`transaction.undo`): what it wrote is on the task's branch by then.
"""
