"""Records that a team learns from: the archive of handoffs, its chains and its index (C6)."""
