"""A box for a night: the developer works there, in a clone of the shop, and its cable can be taken out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.clis.box_of_house import a_box
from tests.clis.house import House
from tests.remote.boxes import Box

if TYPE_CHECKING:
    from tests.nights.directing import Scene
    from tests.nights.night import Night


@contextmanager
def a_box_for(house: House, night: Night) -> Iterator[Box]:
    """Make the box of a night, with the CLI of its developer, who is logged in there as here."""
    with a_box(house, night.pin_of("dev")) as box:
        token = house.world.environ.get("CLAUDE_CODE_OAUTH_TOKEN")
        if token:
            with (box.home / ".profile").open("a") as profile:
                profile.write(f"unset ANTHROPIC_API_KEY\nexport CLAUDE_CODE_OAUTH_TOKEN={token}\n")
        yield box


def repository(box: Box) -> Path:
    """Return the clone in which agents work there."""
    return box.home / "repo"


def cuts_box(seconds: float) -> Callable[[Scene], None]:
    """Take the box's cable out for so many seconds of the night."""

    def act(scene: Scene) -> None:
        if scene.box is None:
            raise AssertionError("the night has no box")
        began = time.time()
        with scene.box.cut():
            scene.pause(scene.real(seconds))
        scene.note("box cut off", began, outage=True)

    return act
