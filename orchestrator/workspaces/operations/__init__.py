"""File operations of agents that touch no file: planned, applied as one transaction, rolled back.

An agent of `hands: operations` (task.md) hands them in as text; `settle` carries them out when its run has ended.
`task undo` reverses them later: on disk (`transaction.undo_once`), or by a commit where the task's branch has them.
"""
