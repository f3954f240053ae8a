"""Where panes live: safe files, the launcher of a run, tmux, and the process table."""
