"""The whole daemon on a fake world and a fake clock, by seed: `python -m orchestrator.testing.simulate`."""
