"""A PM daemon that plans, starts, watches and checks the work of coding agents in tmux panes."""

__version__ = "0.1.0"
