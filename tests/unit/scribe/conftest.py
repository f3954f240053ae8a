import pytest

from orchestrator.testing.local_zone import local_zone


@pytest.fixture(autouse=True)
def _utc():
    with local_zone("UTC"):
        yield
