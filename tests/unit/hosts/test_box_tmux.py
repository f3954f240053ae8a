"""What a user reads of a box whose tmux is gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from orchestrator.hosts.ssh.box_tmux import BoxTmux
from orchestrator.model.boxes import Address
from orchestrator.model.errors import Unavailable
from orchestrator.model.facts import LaunchFailed
from orchestrator.model.limits import Limits
from orchestrator.model.task import Location
from orchestrator.ports.box_link import BoxLink, Ended
from tests.unit.pm.story import Story


def test_tmux_gone_before_a_launch_is_named_with_its_box() -> None:
    """The user reads what is missing, where, how often it was tried, and what to type, at once or after the tries."""
    gone = Ended(127, b"", b"env: 'tmux': No such file or directory")
    link: Any = SimpleNamespace(address=Address("alpha"), run=lambda *_, **__: gone)
    with pytest.raises(Unavailable) as caught:
        BoxTmux(cast("BoxLink", link)).cmd("new-window")
    story = Story(cwd=Location("/repo", "alpha"), limits=Limits(max_failed_launches=2)).planned("a")
    for _ in range(2):
        run = story.run_of("dev:a").id
        story.feed(LaunchFailed(story.at, story.nonce(), run, str(caught.value)))
        story.passes(story.limits.max_retry_pause)
    assert story.question().text == (
        "dev could not be launched: alpha: tmux is not on the PATH of a plain command there: install it there\n"
        "That was tried 2 times in a row. Fix it (`task doctor alpha` tests it), then answer retry."
    )
