"""The trees that steps write in: worktrees on branches of the task, refs that keep dirty work, and leases."""
