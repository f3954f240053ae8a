"""What the daemon needs from the world, as small protocols. The real ones and the fakes pass one contract suite."""
