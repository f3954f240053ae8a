"""What users ask for: a start becomes the first fact of a task, every other request one more."""
