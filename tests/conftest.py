"""What holds for every test."""

from hypothesis import settings

# A machine that is shared stalls now and then; how long things take is for the benchmarks to judge.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["tests.tmux_server"]
