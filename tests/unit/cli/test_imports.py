"""Which modules a verb imports: what it costs before it says a word. No time is measured here; scripts/bench does."""

import os
import subprocess
import sys

import pytest

from orchestrator.cli.main import VERBS
from orchestrator.formats.text import names

HEAVY = names(
    """
    apprise apscheduler asyncio concurrent difflib email hashlib http importlib.metadata importlib.resources libtmux
    logging paramiko pathlib platformdirs pydantic requests secrets ssl subprocess tarfile tempfile tomllib typing
    urllib3 watchdog zipfile
    """
)
"""What costs more than a tenth of an interpreter's start, and is to be imported by those only that need it."""

READING = {
    ("--version",): ("", "cli"),
    ("help",): ("", "cli"),
    ("help", "json"): ("", "cli"),
    ("complete", "tasks"): ("", "cli layout own_files plain_files"),
    ("status", "tidy"): ("", "cli formats layout own_files"),
    ("list",): ("", "cli layout own_files"),
    ("hosts",): ("", "cli layout own_files"),
    ("questions",): ("", "cli layout own_files"),
    ("logs", "tidy"): ("pathlib typing", "cli daemon formats model layout own_files ports"),
    ("why", "tidy"): ("pathlib typing", "cli daemon formats model layout own_files pm ports"),
    ("config",): ("hashlib pathlib tomllib typing", "cli formats model layout own_files plain_files"),
    ("templates",): ("pathlib typing", "cli formats model layout own_files plain_files runtimes shipped"),
    ("notify", "list"): ("pathlib typing", "cli formats hosts model layout own_files ports notifications"),
    ("daemon", "status"): (
        "pathlib typing subprocess",
        "cli model layout own_files plain_files runtimes shipped",
    ),
    ("completion", "bash"): ("", "cli layout own_files"),
    ("diff", "tidy"): (
        "pathlib typing subprocess",
        "cli daemon formats model layout own_files plain_files ports workspaces",
    ),
    ("list", "--archived"): ("pathlib typing", "cli formats layout own_files"),
}
"""For each reading verb what of `HEAVY` it may import, and of which rooms of ours.

Of `formats`, `status` takes what imports nothing else: how moments and amounts are said. `config` shows the list of
prices, which is TOML.
"""

CHANGING = (
    ("stop", "tidy"),
    ("attach", "tidy"),
    ("checkin", "tidy"),
    ("merge", "tidy"),
    ("rebase", "tidy"),
    ("undo", "tidy", "dev:one"),
    ("delete", "tidy"),
    ("spawn", "tidy", "dev"),
    ("order", "tidy", "dev", "Hurry"),
    ("answer", "tidy", "q1", "yes"),
)
"""Verbs that ask the daemon, a box or git, as far as they come in a project without a repository."""

CLASSES = 26
"""So many dataclasses take as long to be made as an interpreter to start."""

LONGER = {
    "archive", "doctor", "mcp", "memory", "observe", "report", "serve", "setup-agents", "skill", "start", "watch",
    "workflow",
}  # fmt: skip
"""Verbs that say a first word before they import what they need, or need much of what there is."""


def imported(words):
    """Return the modules that a command has imported when it ends."""
    return evaluated_at_the_end(words, "sorted(set(sys.modules) - before)")


def classes(words):
    """Return the dataclasses of ours that a command has made when it ends."""
    ours = "[m for name, m in list(sys.modules.items()) if name.startswith('orchestrator')]"
    made = "isinstance(c, type) and c.__module__ == m.__name__ and '__dataclass_fields__' in vars(c)"
    return evaluated_at_the_end(
        words, f"[f'{{m.__name__}}.{{c.__name__}}' for m in {ours} for c in vars(m).values() if {made}]"
    )


def evaluated_at_the_end(words, expression):
    """Return the words of an expression, evaluated where a command has ended."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from orchestrator.cli.main import main\n"
        f"main({list(words)!r})\n"
        f"print('result', *{expression}, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_a_reading_verb_imports_no_more_than_it_needs(house, words):
    house.task()
    (house.state / "tasks" / "tidy-0a1b2c3d" / "pm.log").write_text("x\n")
    (house.state / "tasks" / "tidy-0a1b2c3d" / "journal").mkdir()
    modules = imported(words)
    allowed, rooms = READING[words]
    assert {name for name in HEAVY if name in modules} <= names(allowed)
    ours = {name.split(".")[1] for name in modules if name.startswith("orchestrator.")}
    assert ours <= names(rooms)


@pytest.mark.parametrize("words", [("list",), ("questions",), ("status", "tidy")], ids=" ".join)
def test_a_verb_imports_no_more_while_no_daemon_runs(house, words):
    """With nothing at work there is nothing to report: the whole notifier was imported to find that out."""
    house.task(state="stopped", agents=[])
    beat = house.state / "daemon.beat"
    beat.write_text('{"pid": 4194305, "started_at": 1.0, "beat_at": 2.0, "every": 5.0, "monotonic": 0.0}')
    os.utime(beat, (2.0, 2.0))
    modules = imported(words)
    assert "orchestrator.cli.alarm" in modules
    assert not {name for name in HEAVY if name in modules}
    ours = {name.split(".")[1] for name in modules if name.startswith("orchestrator.")}
    assert ours <= names("cli formats layout own_files")


def test_every_verb_is_held():
    assert {words[0] for words in (*READING, *CHANGING)} | LONGER >= set(VERBS)


@pytest.mark.parametrize("words", [*READING, *CHANGING], ids=" ".join)
def test_a_verb_makes_few_classes(house, words):
    """What a command imports of ours costs it most by the classes that are made: of settings, of which it reads one."""
    house.task()
    made = classes(words)
    assert len(made) <= CLASSES, "\n".join(made)


def test_a_check_speaks_before_it_imports_what_it_checks_by(house, monkeypatch):
    """Its first line took 11.6 times as long as an empty interpreter: all that starting needs was imported first."""
    monkeypatch.chdir(house.project)
    folder = house.project / "tasks" / "new"
    folder.mkdir(parents=True)
    (folder / "task.md").write_text("# Task: new\n\n## Goal\nGo.\n\n## Success Criteria\n- [ ] done\n")
    code = (
        "import builtins, sys; real, seen = print, []\n"
        "def print(*words, **how): seen or seen.append(set(sys.modules)); real(*words, **how)\n"
        "builtins.print = print\n"
        "from orchestrator.cli.main import main\n"
        "main(['start', 'new', '--check'])\n"
        "real('result', *seen[0], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stderr.splitlines()[-1].split())
    assert "task.md: " in done.stdout.splitlines()[0]
    assert "orchestrator.cli.start_check" in modules
    late = names("precheck starting channels git_filters exclude daemon_startup next_steps status_page")
    assert not {f"orchestrator.cli.{each}" for each in late} & modules


def test_a_report_imports_no_browser_and_no_page_of_status(house):
    house.task(state="stopped", agents=[], base="")
    modules = set(imported(("report", "tidy", "--json")))
    assert "orchestrator.reporting.build" in modules
    assert not {"webbrowser", "orchestrator.cli.status_page", "jinja2"} & modules


def test_a_check_before_the_start_imports_no_engine(house, monkeypatch):
    """It asks which gates and runtimes there are, not what they decide or say; and it calls tmux once."""
    monkeypatch.chdir(house.project)
    folder = house.project / "tasks" / "new"
    folder.mkdir(parents=True)
    text = "# Task: new\n\n## Goal\nGo.\n\n## Success Criteria\n- [ ] done\n\n## Agent Config\ndev.command: true\n"
    (folder / "task.md").write_text(text)
    modules = set(imported(("start", "new", "--check")))
    assert "orchestrator.cli.start_check" in modules
    heavy = {
        "libtmux",
        "pydantic",
        "secrets",
        "orchestrator.cli.follow",
        "orchestrator.hosts.ssh.link",
        "orchestrator.model.event",
        "orchestrator.model.facts",
        "orchestrator.pm.decide",
    }
    assert not modules & heavy
    assert len(classes(("start", "new", "--check"))) <= 3 * CLASSES


@pytest.mark.parametrize("words", [("observe",), ("report", "tidy")], ids=" ".join)
def test_who_looks_back_imports_no_plan(house, words):
    """All families of plans were imported for the name of one step."""
    house.task()
    modules = imported(words)
    assert "orchestrator.reporting.history" in modules
    assert not [name for name in modules if name.startswith(("orchestrator.pm.plan", "pydantic"))]


def test_observer_imports_no_git_without_an_archive(house):
    """What unpacks archived tasks came with all of git's adapter: a quarter of what an empty report takes."""
    house.task()
    assert not [name for name in imported(("observe",)) if name.startswith("orchestrator.workspaces")]


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_explains_itself_by_what_it_needs_to_work(verb):
    """`task VERB --help`, and the shell's completion, read the arguments alone."""
    modules = imported(["help", verb])
    ours = {name.split(".")[1] for name in modules if name.startswith("orchestrator.")}
    assert ours <= names("cli daemon formats model layout own_files plain_files pm ports")
    assert not {"pydantic", "asyncio", "concurrent", "tomllib"} & set(modules)


def test_the_doctor_says_a_first_word_before_it_looks(house):
    """What it needs to look takes as long to import as all else together."""
    code = (
        "import sys\n"
        "from orchestrator.cli.main import main\n"
        "class Out:\n"
        "    def __init__(self, out): self.out, self.first = out, None\n"
        "    def write(self, text):\n"
        "        self.first = self.first or set(sys.modules)\n"
        "        return self.out.write(text)\n"
        "    def __getattr__(self, name): return getattr(self.out, name)\n"
        "sys.stdout = Out(sys.stdout)\n"
        "main(['doctor'])\n"
        "print(*sorted(sys.stdout.first), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    first = done.stderr.splitlines()[-1].split()
    assert done.stdout.startswith("agent-orchestrator ")
    assert not {name for name in HEAVY if name in first}
    assert "orchestrator.cli.machine_probe" not in first
