import os
import time

import pytest


@pytest.fixture
def zone():
    """Let a test choose the local time zone."""
    before = os.environ.get("TZ")

    def choose(name):
        os.environ["TZ"] = name
        time.tzset()

    yield choose
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()
