"""The files of coordination by roles (C1 to C6): handoffs, statuses, chains and the index of an archive."""
