"""What is compressed, passivated or deleted after a task has ended."""
