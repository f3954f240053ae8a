"""Extensions from installed packages: the two examples of the documentation, and packages that are broken or gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.bubblewrap import bwrap_works
from tests.integration.daemon.world import World, names

EXAMPLES: Final = Path(__file__).parents[3] / "docs" / "examples"
RESEARCH: Final = "family: research"
SOURCES: Final = "## Sources\n- rfc3339\n- notes.txt\n"
READ_AND_WRITE: Final = {
    "read": [{"sections": SOURCES}],
    "write": [{"write": {"answer.md": "As the RFC says.\n"}}],
}
JSON_REPORT: Final = '{\n  "status": "COMPLETE",\n  "completed": "Looked around."\n}\n'


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the examples are installed, as a user would."""
    folder = tmp_path_factory.mktemp("site")
    examples = [
        str(example) for example in sorted(EXAMPLES.iterdir()) if (example / "pyproject.toml").exists()
    ]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    done = subprocess.run(
        [*command, "--disable-pip-version-check", "--target", str(folder), *examples],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def extended(world: World, installed: Path) -> World:
    world.environ["PYTHONPATH"] = str(installed)
    return world


def package(folder: Path, name: str, group: str, entry: str, code: str) -> None:
    """Put a package with one entry point into a folder, as pip would."""
    (folder / f"{name}.py").write_text(code)
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[agent_orchestrator.{group}]\n{entry} = {name}\n")


@pytest.mark.parametrize("example", ["research-family", "json-handoffs", "private-root", "one-shot"])
def test_example_passes_its_own_suite(installed, tmp_path, example) -> None:
    (test,) = (EXAMPLES / example).glob("test_*.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", str(test)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_examples_are_small() -> None:
    """A family with a gate of its own takes four files at most, a handoff format or runtime three, a host kind six."""
    for example, most in (("research-family", 4), ("json-handoffs", 3), ("private-root", 6), ("one-shot", 3)):
        kept = [path for path in (EXAMPLES / example).iterdir() if path.name != "__pycache__"]
        assert len(kept) <= most


def test_task_of_an_installed_family_completes(extended) -> None:
    extended.begin(READ_AND_WRITE, config=[RESEARCH])
    extended.until_is("complete")
    assert [step for _, step in extended.lives] == ["read", "write", "accept"]
    assert extended.git("show", "task/t1:answer.md") == "As the RFC says."
    extended.check_once()


def test_gate_of_an_installed_package_asks_again(extended) -> None:
    extended.begin(
        {**READ_AND_WRITE, "read": [{"sections": "## Sources\n- one\n"}, {"sections": SOURCES}]},
        config=[RESEARCH],
    )
    extended.until_is("complete")
    assert extended.lives_of("read") == 2
    assert "of at least 2 sources" in extended.story().orders("read")[1]
    orders = [path.read_text() for path in extended.home().glob("runs/*/order.md")]
    shown = [each for each in orders if "Collect what answers this" in each and "## Sources\n" in each]
    assert len(shown) == 2, "an order shows what the gate reads"


@pytest.mark.thorough(reason="one that the format refuses is asked for again below, and then counts")
def test_reports_in_an_installed_format_count(extended) -> None:
    report = {"bytes": JSON_REPORT, "name": "explore-20260101-120000.json"}
    folder = extended.begin({"explore": [report]}, config=["handoffs: json"])
    extended.until_is("complete")
    assert "explore-20260101-120000.json" in names((folder / "handoffs").iterdir())
    extended.until(lambda: "Looked around." in (folder / "progress.md").read_text())
    order = next(path for path in extended.home().glob("runs/*/order.md") if "explore" in path.read_text())
    assert "```json\n" in order.read_text()


def test_report_that_the_format_refuses_is_asked_for_again(extended) -> None:
    bad = {"bytes": '{"status": "DONE"}\n', "name": "explore-20260101-120000.json"}
    good = {"bytes": JSON_REPORT, "name": "explore-20260101-120001.json"}
    extended.begin({"explore": [bad, good]}, config=["handoffs: json"])
    extended.until_is("complete")
    assert "`status`" in extended.story().orders("explore")[1]


DEV_IN_A_SANDBOX: Final = r"""
echo "NAME = 1" >"$ORCHESTRATOR_WORKSPACE/pkg/boxed.py"
echo x >"$1" && elsewhere="can write elsewhere" || elsewhere="cannot write elsewhere"
report=$ORCHESTRATOR_TASK_DIR/handoffs/$ORCHESTRATOR_AGENT-20260101-120000.md
{
    printf '# Handoff: dev\n**Status:** COMPLETE\n**Run:** %s\n\n' "$ORCHESTRATOR_RUN"
    printf '## Completed Work\n%s, home is %s\n' "$elsewhere" "$HOME"
} >"$ORCHESTRATOR_SCRATCHPAD/part"
mv "$ORCHESTRATOR_SCRATCHPAD/part" "$report"
"""


@pytest.mark.skipif(not bwrap_works(), reason="bubblewrap is not there, or may not be used here")
def test_agent_runs_by_an_installed_host_kind(extended) -> None:
    """Only dev is in the sandbox: it works in its tree, and nowhere else; its work is judged and merged as any."""
    home, script, other = extended.root / "private", extended.root / "dev.sh", extended.root / "other"
    home.mkdir()
    script.write_text(DEV_IN_A_SANDBOX)
    extended.begin(config=[f"dev.host: private:{home}"], dev=f"sh {script} {other}")
    extended.until_is("complete")
    assert extended.git("show", "task/t1:pkg/boxed.py") == "NAME = 1"
    (report,) = (extended.project / "tasks" / "t1" / "handoffs").glob("dev-*.md")
    assert f"cannot write elsewhere, home is {home}" in report.read_text()
    assert not other.exists()
    assert {run.get("host", "local") for run in extended.story().runs.values()} == {
        "local",
        f"private://{home}",
    }
    extended.check_nobody_is_left()


def test_host_that_lacks_something_is_refused_at_start(extended) -> None:
    extended.let({})
    extended.brief("t1", "host: private:/no/such/folder")
    said = extended.task("start", "t1", "--project", str(extended.project))
    assert said.code != 0
    assert "/no/such/folder" in " ".join(said.out.split())


def test_what_is_not_installed_is_refused_at_start(world) -> None:
    for line, missing in (
        ("family: research", "plan family research"),
        ("handoffs: json", "handoff format json"),
        ("dev.host: private:/srv", "host kind private"),
    ):
        world.let({})
        world.brief("t1", line)
        said = world.task("start", "t1", "--project", str(world.project))
        assert said.code != 0
        assert missing in " ".join(said.out.split())
    assert not world.lives


@pytest.mark.thorough(reason="unit/pm/test_requests.py refuses another family, in the same words")
def test_family_cannot_change_once_begun(extended) -> None:
    extended.begin({"read": [{"hold": "on"}]}, config=[RESEARCH])
    extended.until_works("read")
    extended.brief("t1")
    said = extended.task("start", "t1", "--project", str(extended.project))
    assert said.code != 0
    assert "plan family research" in " ".join((said.out + said.err).split())


def test_task_waits_while_its_extension_is_missing(extended, installed) -> None:
    """Removed under a task at work, the package is named to those who ask; the task can stop, and goes on later."""
    held = {"hold": "on", "sections": SOURCES}
    extended.begin({**READ_AND_WRITE, "read": [held] * 3}, config=[RESEARCH])
    extended.until_works("read")
    extended.stop_daemon()
    del extended.environ["PYTHONPATH"]
    extended.daemon()
    said = extended.task("checkin", "t1")
    assert said.code != 0
    assert "plan family research" in " ".join((said.out + said.err).split())
    assert extended.task("stop", "t1").code == 0
    extended.until_is("stopped")
    extended.stop_daemon()
    extended.environ["PYTHONPATH"] = str(installed)
    extended.go("on")
    assert extended.task("start", "t1", "--project", str(extended.project)).code == 0
    extended.until_is("complete")


def test_doctor_lists_them(extended) -> None:
    said = extended.task("doctor", "--project", str(extended.project))
    for line in (
        "plan family research, of research-family 1.0",
        "gate sources",
        "handoff format json",
        "host kind private",
    ):
        assert line in said.out


@pytest.mark.parametrize(
    "code",
    [
        "raise ZeroDivisionError('at import')\n",
        *(
            pytest.param(
                code, marks=pytest.mark.thorough(reason="another fault of a package as it is loaded")
            )
            for code in (
                "import a_module_that_is_nowhere\n",
                "def first_steps(brief):\n    return ()\n",
                "raise SystemExit(3)\n",
            )
        ),
    ],
)
def test_broken_package_hinders_nothing_else(world, tmp_path, code) -> None:
    package(tmp_path, "broken", "families", "broken", code)
    world.environ["PYTHONPATH"] = str(tmp_path)
    world.begin()
    world.until_is("complete")
    assert "plan family broken of broken 1.0" in world.log
    said = world.task("doctor", "--project", str(world.project))
    assert "cannot be used" in said.out


@pytest.mark.thorough(reason="unit/model/test_registry.py refuses it; a broken package is loaded above")
def test_package_cannot_replace_what_ships(world, tmp_path) -> None:
    package(tmp_path, "greedy", "families", "delivery", "def agents(brief):\n    return ()\n")
    world.environ["PYTHONPATH"] = str(tmp_path)
    world.begin()
    world.until_is("complete")
    assert "plan family delivery of greedy 1.0" in world.log
