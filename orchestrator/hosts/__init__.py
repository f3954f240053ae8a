"""Where agents run: safe files, the launcher of a run, tmux, the process table, and boxes over SSH."""
