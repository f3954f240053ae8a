"""A task's report: the page that is read the morning after."""
