"""What is put away when a task has ended, and what goes."""
