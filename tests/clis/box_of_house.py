"""A box in the network of a house: a login there finds an agent CLI, a model and a clone of the project."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.clis.house import House
from tests.clis.pinned import NODE, default_cache, pins
from tests.clis.users import variables
from tests.remote.boxes import Box, Boxes, boxes


@contextmanager
def a_box(house: House, name: str) -> Iterator[Box]:
    """Make a box in the network of a house, on which a login finds a CLI, a model and a clone of the project."""
    with boxes() as made:
        inside = tuple(house.inside)
        box = made.add("alpha", inside=inside)
        _let_ssh_in(house, made, inside)
        cli = name.partition("-")[0]
        bin_folder = box.home / "bin"
        bin_folder.mkdir()
        (bin_folder / cli).symlink_to(pins()[name].path(default_cache()))
        path = f"{bin_folder}:{pins()[NODE].path(default_cache()).parent}:$PATH"
        (box.home / "tmp").mkdir()
        given = variables(cli, house.server.url) | {"TMPDIR": str(box.home / "tmp")}
        lines = [f"export {key}={shlex.quote(value)}" for key, value in given.items()]
        (box.home / ".profile").write_text("\n".join([f"export PATH={path}", *lines, ""]))
        (box.home / ".gitconfig").write_text("[user]\nname = A User\nemail = user@localhost\n")
        house.world.git("clone", "-q", str(house.world.project), str(box.home / "repo"))
        yield box


def _let_ssh_in(house: House, made: Boxes, inside: tuple[str, ...]) -> None:
    """Let the ssh of the house's user read the settings of boxes, and enter the house's network."""
    ssh = shutil.which("ssh", path=house.world.environ["PATH"])
    front = house.world.root / "bin" / "ssh"
    front.write_text(f'#!/bin/sh\nexec {shlex.join([*inside, str(ssh)])} -F {made.config} "$@"\n')
    front.chmod(0o755)
