"""What `docs/how-to/workflows.md` tells its reader to type first, typed: with a real daemon, real tmux and real git."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.auditor.audit import AUDITED, audit
from tests.integration.daemon.world import World

PAGE = Path(__file__).parents[3] / "docs/how-to/workflows.md"


def test_commands_of_the_how_to_carry_out_a_workflow(world: World) -> None:
    """Each line of its first block succeeds as it stands, in the project's folder; the example agents play."""
    block = re.search(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    lines = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    assert [words[0] for words in lines] == ["task"] * len(lines)
    for words in lines:
        said = world.task(*words[1:], cwd=world.project)
        assert said.code == 0, said
    name = lines[0][-1]
    world.until_is("complete", name)
    task = world.project / "tasks" / name
    world.until(lambda: not _breaches(task))
    assert world.git("branch", "--list", f"task/{name}").strip()
    assert (task / "orchestration/agents/polish/task_output/text.md").read_text() == (
        "This project has a short, polished text.\n"
    )


def _breaches(task: Path) -> list[str]:
    paths = (each for part in AUDITED for each in (task / part).rglob("*") if each.is_file())
    try:
        files = {str(path.relative_to(task)): path.read_bytes() for path in paths}
    except FileNotFoundError:
        return ["files are still being put away"]
    return [str(each) for each in audit(files)]
