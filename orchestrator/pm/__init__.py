"""The mind of the PM: pure. A state and a fact go in, changes and actions come out. No clock, no file, no pane."""
