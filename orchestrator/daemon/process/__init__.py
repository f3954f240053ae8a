"""The daemon as a process: its lock, its clock, its log, its upgrade."""
