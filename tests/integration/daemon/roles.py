"""An agent of every role, as a program: `python -I -S roles.py SCRIPT`, started by the daemon like any other.

SCRIPT is a JSON file: `{"dev:greet": [{…}, {…}], …}`. The first object says what the first run of that step
does, the second what the second does; beyond them, and for steps that are not named, the role does its work
as it should. What an object may say is in `Turn`. Each life first appends its run to the file `runs` beside
SCRIPT, so that a test can count who was started how often.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

# A third of what a life costs would be `typing`, and `subprocess` where it is not used.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENV = {name.removeprefix("ORCHESTRATOR_"): value for name, value in os.environ.items()}
LONGEST = 60.0  # seconds: nothing that a test forgot lives longer
MOST_EATEN = 268_435_456  # bytes: where nobody bounds it, it ends by itself
FOLDERS = {
    "explore": "analysis",
    "plan": "design",
    "architect": "design",
    "dev": "code",
    "test": "tests",
    "review": "reviews",
}


class Turn:
    """What one life does; every key has a default.

    hold: wait until the file `go/HOLD` is there. hang: never end. ignore_term: leave TERM unheard.
    eat: take memory until it is killed for it. exit: the status to end with, instead of reporting if `report` is false.
    write: files in the workspace, path to text. screen: what is shown. flood: so many bytes on the screen.
    leave: a child that stays, in a session of its own; or the script of sh that it follows. Its pid is noted in the
    file `left` beside SCRIPT. first_of_all: the same, ahead of everything else; shell: a script of sh that is run
    ahead of that, and waited for; last_of_all: one that is run behind the report, ahead of the end. ignore_hup: leave
    HUP unheard.
    listen: read a line from the terminal, and note it in the file `typed` beside SCRIPT.
    spin: show the same again and again, for ever. compute: use the processor and show nothing, for ever. early: lay
    the artifacts down before anything else.
    run: a command whose output becomes an artifact. first: reports to lay down before the own one, each like an
    object of these. say, status, verdict, blockers, sections, artifacts (path to text), claims (more paths, which are
    not made), claimed (paths in place of all), subtasks, marks, unchanged: what the report says.
    name, bytes, place (fifo, folder, or a link's goal), slow (seconds), temporary: how the report is laid down.
    """

    def __init__(self, said: dict[str, Any]) -> None:
        self.said = said

    def __getattr__(self, key: str) -> Any:
        return self.said.get(key)


def main() -> int:
    script = Path(sys.argv[1])
    home = script.parent
    number = begun(home)
    turns = json.loads(script.read_text(encoding="utf-8")).get(ENV["STEP"], [])
    turn = Turn(turns[number] if number < len(turns) else {})
    settle_in(turn, home)
    show(f"{ENV['AGENT']} works on {ENV['STEP']}\n")
    if turn.hold:
        wait_for(home / "go" / turn.hold)
    if turn.early:
        made(turn)
    if turn.screen:
        show(turn.screen)
    if turn.listen:
        with (home / "typed").open("a", encoding="utf-8") as file:
            file.write(sys.stdin.readline())
    if turn.hang or turn.spin or turn.compute:
        last(turn)
    if turn.flood:
        show(("y" * 79 + "\n") * (turn.flood // 80))
    if turn.eat:
        eat()
    if turn.leave:
        leave(home, turn.leave)
    work(turn)
    for other in turn.first or ():
        lay_down(Turn(other), report(Turn(other), []))
    if turn.report is not False:
        lay_down(turn, report(turn, made(turn)))
    if turn.last_of_all:
        run_shell(turn.last_of_all)
    return turn.exit or 0


def settle_in(turn: Turn, home: Path) -> None:
    """Do what comes ahead of everything else."""
    for number, unheard in ((signal.SIGTERM, turn.ignore_term), (signal.SIGHUP, turn.ignore_hup)):
        if unheard:
            signal.signal(number, signal.SIG_IGN)
    if turn.shell:
        run_shell(turn.shell)
    if turn.first_of_all:
        leave(home, turn.first_of_all)


def run_shell(script: str) -> None:
    import subprocess

    subprocess.run(["sh", "-c", script], check=True)


def last(turn: Turn) -> None:
    """Be there and get nowhere."""
    until, second = time.monotonic() + LONGEST, 0
    while (now := time.monotonic()) < until:
        if turn.spin and now * 20 > second:
            second = int(now * 20) + 1
            show(f"\rWorking ({second} s)")
        if not turn.compute:
            time.sleep(0.02)


def leave(home: Path, what: Any) -> None:
    """Leave a child behind that is in no session of ours."""
    import subprocess

    script = what if isinstance(what, str) else f"exec sleep {LONGEST}"
    child = subprocess.Popen(["sh", "-c", script], start_new_session=True, cwd=ENV["WORKSPACE"])
    with (home / "left").open("a", encoding="utf-8") as file:
        file.write(f"{child.pid}\n")


def eat() -> None:
    """Take memory until there is no more."""
    taken = bytearray()
    while len(taken) < MOST_EATEN:
        taken += b"x" * 1_048_576
    sys.exit(9)


def show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def begun(home: Path) -> int:
    """Note this life, and return how many lives of the same step were before it."""
    with (home / "runs").open("a+", encoding="utf-8") as file:
        file.write(f"{ENV['RUN']} {ENV['STEP']} {ENV['ATTEMPT']} {os.getpid()}\n")
        file.flush()
        file.seek(0)
        lives = [line.split()[1] for line in file]
    return lives.count(ENV["STEP"]) - 1


def wait_for(path: Path) -> None:
    until = time.monotonic() + LONGEST
    while not path.exists():
        if time.monotonic() > until:
            sys.exit(9)
        time.sleep(0.005)


def work(turn: Turn) -> None:
    """Change the workspace: as told, or a dev's one new module; one that is there already gets another line."""
    files = turn.write
    if files is None:
        module = Path(ENV["WORKSPACE"], "pkg", f"{ENV['SUBTASK']}.py")
        text = (
            f"{module.read_text()}# by {ENV['RUN']}\n" if module.exists() else f"NAME = '{ENV['SUBTASK']}'\n"
        )
        files = {f"pkg/{ENV['SUBTASK']}.py": text} if ENV["DEFINITION"] == "dev" else {}
    for name, text in files.items():
        path = Path(ENV["WORKSPACE"], name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def made(turn: Turn) -> list[str]:
    """Lay down the artifacts and return what to claim."""
    role = ENV["DEFINITION"]
    name = f"artifacts/{FOLDERS.get(role, role)}/{ENV['STEP'].replace(':', '-')}.md"
    artifacts = turn.artifacts if turn.artifacts is not None else {name: f"by {ENV['RUN']}\n"}
    if turn.run:
        import subprocess

        done = subprocess.run(turn.run, capture_output=True, text=True, timeout=LONGEST, check=False)
        artifacts[name] = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
    for path, text in artifacts.items():
        Path(ENV["TASK_DIR"], path).write_text(text, encoding="utf-8")
    return turn.claimed or [*artifacts, *(turn.claims or ())]


def report(turn: Turn, artifacts: list[str]) -> bytes:
    """Return the report's bytes."""
    if turn.bytes is not None:
        return bytes(turn.bytes, "latin-1") * (turn.times or 1)
    lines = [f"# Handoff: {ENV['AGENT']}", f"**Status:** {turn.status or 'COMPLETE'}"]
    lines += [f"**Run:** {turn.claimed_run or ENV['RUN']}", f"**In reply to:** {ENV['REPLY_TO']}"]
    if verdict := turn.verdict or ("APPROVED" if ENV["DEFINITION"] in {"test", "review"} else ""):
        lines.append(f"**Verdict:** {verdict}")
    lines += ["", "## Completed Work", turn.say or f"{ENV['STEP']} is done.", "", "## Artifacts Generated"]
    lines += [f"- {each}" for each in artifacts] or ["None"]
    if turn.unchanged:
        lines += ["", "## No Changes", turn.unchanged]
    if turn.sections:
        lines += ["", *turn.sections.splitlines()]
    if turn.status == "BLOCKED":
        lines += ["", "## Blockers", turn.blockers or "There is no database."]
    if ENV["STEP"] == "plan":
        lines += ["", "## Subtasks", *(turn.subtasks or ["- [greet] Add a greeting (agent: dev)"])]
    if ENV["STEP"] == "accept":
        lines += ["", "## Success Criteria", *(turn.marks or marks(artifacts))]
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")


def marks(artifacts: list[str]) -> list[str]:
    brief = Path(ENV["TASK_DIR"], "task.md").read_text(encoding="utf-8")
    wanted = brief.partition("## Success Criteria\n")[2].partition("\n## ")[0]
    shown = ", ".join(f"`{each}`" for each in (artifacts[0], *of_others()))
    return [f"- [x] {line[2:]} (evidence: {shown})" for line in wanted.splitlines() if line]


def of_others() -> list[str]:
    """Return an artifact of an earlier step, if there is one: what a judge writes itself is its word alone."""
    folder = Path(ENV["TASK_DIR"])
    found = (path for step in ("plan", "explore") for path in folder.glob(f"artifacts/*/{step}.md"))
    return [str(path.relative_to(folder)) for path in found if path.is_file() and path.stat().st_size][:1]


def lay_down(turn: Turn, data: bytes) -> None:
    """Put a report into `handoffs/`, whole unless it is told otherwise."""
    handoffs = Path(ENV["HANDOFFS"])
    path = handoffs / turn.name if turn.name else free_name(handoffs)
    if turn.place == "fifo":
        os.mkfifo(path)
    elif turn.place == "folder":
        path.mkdir()
    elif turn.place:
        path.symlink_to(turn.place)
    elif turn.slow:
        with path.open("wb") as file:
            file.write(data[: len(data) // 2])
            file.flush()
            time.sleep(turn.slow)
            file.write(data[len(data) // 2 :])
    else:
        unfinished = handoffs / turn.temporary if turn.temporary else Path(ENV["SCRATCHPAD"], "unfinished")
        unfinished.write_bytes(data)
        if turn.temporary:
            time.sleep(0.05)  # long enough to be seen
        unfinished.rename(path)


def free_name(handoffs: Path) -> Path:
    """Return the path of the next handoff of this agent: names take the next free second."""
    second = int(time.time())
    while True:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.localtime(second))
        path = handoffs / f"{ENV['AGENT']}-{stamp}.md"
        if not os.path.lexists(path):
            return path
        second += 1


if __name__ == "__main__":
    sys.exit(main())
