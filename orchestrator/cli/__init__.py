"""The commands that a user types, one file per verb. They read files themselves, and show state without a daemon.

`task status` should answer as fast as `git status`. So what it imports (`main`, `parser`, `exits`, `tasks`, `beat`,
`screen`, `table`, `status`) uses no library, and not `typing`, `pathlib` or `dataclasses`, each of which costs a
third of an interpreter's start or more.
"""
