"""`task watch`: what it shows (`picture`, pure), what it reads (`tasks_seen`, `run_screen`), and the widgets."""
