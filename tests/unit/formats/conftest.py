import pytest

from orchestrator.testing.local_zone import local_zone


@pytest.fixture
def _pacific():
    """Let local times be those of the documents' examples."""
    with local_zone("PST8PDT"):
        yield
