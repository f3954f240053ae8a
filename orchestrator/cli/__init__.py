"""What a user types: one file per verb. Reads files itself, so that it needs no daemon to show something.

`task status` is to answer like `git status`. So what lies on its way (`main`, `parser`, `exits`, `tasks`,
`beat`, `screen`, `table`, `status`) imports no library, and not `typing`, `pathlib` or `dataclasses`, each of
which costs a third of an interpreter's start or more.
"""
