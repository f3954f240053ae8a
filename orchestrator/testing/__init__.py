"""The fakes that ship. Each is held to the same contract suite as what it stands for."""
