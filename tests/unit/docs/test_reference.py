"""What is made from the code is committed, fresh and whole."""

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from orchestrator.cli.exits import Exit
from orchestrator.cli.help import MEANINGS
from orchestrator.cli.main import VERBS
from orchestrator.formats.former_settings import FORMER_KEYS
from orchestrator.formats.setting_kinds import all_keys
from orchestrator.model import plan, question, run, task
from orchestrator.model.agents import Role
from scripts.reference import roff
from scripts.reference.code_map import CodeMap, code_map
from scripts.reference.pages import MANUAL, REFERENCE, ROOT, made, stale, write
from scripts.reference.settings import undocumented
from scripts.reference.sources import meanings
from scripts.reference.verbs import GROUPS, verbs

MANUALS = sorted({f"agent-orchestrator-{verb}" for verb in VERBS} | {"agent-orchestrator", "task"})


@cache
def texts() -> dict[Path, str]:
    """Return what is made; only who asks for it waits for it, and not who collects tests."""
    return made()


def reference() -> dict[str, str]:
    return {path.name: text for path, text in texts().items() if path.parent == REFERENCE}


def manual() -> dict[str, str]:
    return {path.stem: text for path, text in texts().items() if path.parent == MANUAL}


def test_committed_files_are_fresh():
    assert [str(path) for path in stale()] == [], "run scripts/docs reference"


@pytest.mark.parametrize(("package", "parts", "storeys"), [("", 20, 9), ("pm", 7, 5), ("daemon", 13, 8)])
def test_code_imports_one_way_and_stays_small(package, parts, storeys):
    shown = code_map(package)
    assert shown.back_arrows == []
    assert (len(shown.imports) <= parts, len(shown.storeys) <= storeys) == (True, True)


def test_code_map_finds_imports_in_circles():
    shown = CodeMap({"a": frozenset("b"), "b": frozenset("c"), "c": frozenset("b"), "d": frozenset("a")})
    assert shown.back_arrows == [("b", "c"), ("c", "b")]
    assert shown.storeys == [["d"], ["a"], ["b", "c"]]


def test_stale_files_are_written_and_removed(tmp_path):
    write(tmp_path)
    assert stale(tmp_path) == []
    page, gone = tmp_path / REFERENCE / "states.md", tmp_path / REFERENCE / "old.md"
    page.write_text("other")
    gone.write_text("<!-- Made by us. -->\n")
    assert {tmp_path / path for path in stale(tmp_path)} == {page, gone}
    write(tmp_path)
    assert (stale(tmp_path), gone.exists()) == ([], False)


def test_pages_written_by_hand_are_left_alone(tmp_path):
    (tmp_path / REFERENCE).mkdir(parents=True)
    (tmp_path / REFERENCE / "own.md").write_text("# My own\n")
    write(tmp_path)
    assert (tmp_path / REFERENCE / "own.md").read_text() == "# My own\n"


def test_pages_do_not_depend_on_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    assert stale() == []


def test_every_setting_has_a_meaning():
    assert undocumented() == []


def test_every_setting_is_listed_once():
    text = "".join(text for name, text in reference().items() if name.startswith("settings"))
    for each in all_keys():
        assert text.count(f"\n| `{each.section}.{each.key}` |") == 1, each


def test_former_names_stand_beside_the_new_ones():
    text = "".join(text for name, text in reference().items() if name.startswith("settings"))
    for (section, former), key in FORMER_KEYS.items():
        assert re.search(rf"^\| `{section}\.{key}` \|.*\| `{former}` \|$", text, re.MULTILINE), former


def test_every_verb_stands_on_one_page():
    assert sorted(name for _, names in GROUPS.values() for name in names) == sorted(VERBS)
    assert sorted(manual()) == MANUALS


@pytest.mark.parametrize("verb", verbs(), ids=lambda verb: verb.name)
def test_every_option_is_explained(verb):
    page = next(reference()[f"cli-{group}.md"] for group, (_, names) in GROUPS.items() if verb.name in names)
    for word in (*verb.words, *verb.options):
        assert word.help
        assert all(f"`{name}" in page.replace("\\|", "|") for name in word.written)
        assert all(roff.escaped(name) in manual()[f"agent-orchestrator-{verb.name}"] for name in word.written)


def test_every_exit_code_has_a_meaning():
    assert list(MEANINGS) == list(Exit)


@pytest.mark.parametrize(
    "of",
    [
        task.TaskState,
        task.Phase,
        plan.StepState,
        plan.Gate,
        run.Life,
        run.Turn,
        run.Ending,
        question.QuestionKind,
    ],
)
def test_every_state_has_a_meaning(of):
    assert list(meanings(of)) == list(of.__members__)


def test_meanings_are_read_below_and_behind():
    assert meanings(_Sample) == {"below": "One\nTwo", "behind": "a comment"}
    assert meanings(Role) == {}


class _Sample:
    below: int = 1
    """One

    Two
    """
    behind: int = 2  # a comment
    neither: int = 3

    def method(self):
        """This is no field."""


# Manual pages -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANUALS)
def test_manual_pages_are_plain_ascii_macros(name):
    if name == "task":
        assert manual()[name] == ".so man1/agent-orchestrator.1\n"
        return
    text = manual()[name]
    assert text.isascii()
    assert text.splitlines()[1].startswith(f".TH {roff.quoted(name.upper())} 1 ")
    assert [line for line in text.splitlines() if line.startswith(".SH")][:2] == [
        '.SH "NAME"',
        '.SH "SYNOPSIS"',
    ]
    macros = set(re.findall(r"^\.(\S+)", text, re.MULTILINE))
    assert macros <= {'\\"', "TH", "SH", "SS", "TP", "PP", "nf", "fi", "RS", "RE"}


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("name", sorted({*MANUALS} - {"task"}))
def test_troff_reads_manual_pages_without_warnings(name):
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8", "-P-cbou"],
        input=manual()[name],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stderr, "SYNOPSIS" in done.stdout) == ("", True)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (".TH no macro", "\\&.TH no macro"),
        ("a `-b` c", "a \\fB\\-b\\fR c"),
        ("don't \\n ~", "don\\(aqt \\en \\(ti"),
        ("…", "\\&..."),
        ("é", "\\[u00E9]"),
        ("two\nlines", "two lines"),
    ],
)
def test_prose_means_itself_in_troff(text, written):
    assert roff.prose(text) == written


def test_manual_pages_are_committed_where_they_are_made():
    assert {path.stem for path in (ROOT / MANUAL).iterdir()} == {*MANUALS}
