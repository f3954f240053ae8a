"""What holds for every test."""

import signal

from hypothesis import settings

# Under nohup every child would ignore a hang-up, which some of them are to be told by.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# A machine that is shared stalls now and then; how long things take is for the benchmarks to judge.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["tests.tmux_server"]
