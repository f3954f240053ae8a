"""Builds the wheel as a release would, installs it alone, and uses it as a stranger would.

usage: python tests/wheel_check.py [--release FOLDER]

With --release, sdist and wheel are built into FOLDER, and each is installed by pip, pipx and uv, where these are there,
with the dependencies that they find themselves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from orchestrator import __version__

CHECKOUT = Path(__file__).resolve().parent.parent
SHIPPED = ("agents", "deploy", "schemas", "scripts", "tasks")
MANUAL = "share/man/man1"
BUILD_SECONDS = 300
VERB_SECONDS = 60
TASK_SECONDS = 180


PROJECT = {
    "pyproject.toml": '[project]\nname = "greeting"\nversion = "1"\n',
    "greeting.py": 'import os\n\n\ndef greeting(name):\n    return f"hello " + name\n',
    "test_greeting.py": 'from greeting import greeting\n\n\ndef test_it():\n    assert greeting("a") == "hello a"\n',
}


class Failed(Exception):
    """The wheel is not fit for release. The message says why."""


def run(
    *command: str | Path,
    seconds: float = VERB_SECONDS,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """Return what the command printed, both streams together; raise Failed unless it exits 0 in time."""
    shown = " ".join(map(str, command))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=seconds,
            check=False,
            cwd=cwd,
            env=env,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{shown}: not done after {seconds:.0f} s, having printed\n{late.output}") from late
    if done.returncode:
        raise Failed(f"{shown}: exit {done.returncode}, having printed\n{done.stdout}")
    return done.stdout


def build(into: Path) -> tuple[Path, Path]:
    """Return an sdist built from the checkout, and a wheel built from that: so both are proven."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", into, CHECKOUT, seconds=BUILD_SECONDS)
    (sdist,), (wheel,) = into.glob("*.tar.gz"), into.glob("*.whl")
    return sdist, wheel


def check_content(wheel: Path) -> None:
    """Raise Failed unless the wheel holds the package with what ships, and nothing else."""
    names = zipfile.ZipFile(wheel).namelist()
    for folder in SHIPPED:
        if not any(name.startswith(f"orchestrator/_shipped/{folder}/") for name in names):
            raise Failed(f"{wheel.name} lacks the folder {folder}/")
    metadata = wheel_metadata(wheel)
    data = f"{metadata.removesuffix('.dist-info')}.data"
    manual = f"{data}/data/{MANUAL}"
    for page in ("agent-orchestrator.1", "task.1"):
        if f"{manual}/{page}" not in names:
            raise Failed(f"{wheel.name} lacks the manual page {page}")
    names = [name for name in names if not name.startswith(f"{manual}/")]
    strangers = {name.split("/")[0] for name in names} - {"orchestrator", metadata}
    if strangers:
        raise Failed(f"{wheel.name} would put {', '.join(sorted(strangers))} beside the package")
    if "orchestrator/testing/fake_host.py" not in names:
        raise Failed(f"{wheel.name} lacks the fakes, with which extensions are tested")
    simulation = [name for name in names if "simulat" in name]
    if simulation:
        raise Failed(
            f"{wheel.name} holds parts of the simulation, which only a checkout needs: {simulation[0]}"
        )


def wheel_metadata(wheel: Path) -> str:
    """Return the name of the wheel's metadata folder."""
    name, version, *_ = wheel.name.split("-")
    return f"{name}-{version}.dist-info"


def by_lock(wheel: Path, root: Path) -> Path:
    """Install a wheel with its locked dependencies by pip; return the folder of its programs."""
    programs, pip = environment(root)
    locked = CHECKOUT / "requirements" / "runtime.lock"
    run(*pip, "install", "--require-hashes", "--no-deps", "-r", locked, seconds=BUILD_SECONDS)
    run(*pip, "install", "--no-deps", wheel, seconds=BUILD_SECONDS)
    run(*pip, "check")
    if not (programs.parent / MANUAL / "task.1").is_file():
        raise Failed(f"{wheel.name}: no manual page lies in {programs.parent / MANUAL}")
    return programs


def by_pip(artifact: Path, root: Path) -> Path:
    """Install by pip into an empty virtual environment; return the folder of its programs."""
    programs, pip = environment(root)
    run(*pip, "install", artifact, seconds=BUILD_SECONDS)
    run(*pip, "check")
    return programs


def by_pipx(artifact: Path, root: Path) -> Path:
    """Install by pipx into folders of its own; return the folder of its programs."""
    places = {"PIPX_HOME": root / "pipx", "PIPX_BIN_DIR": root / "bin", "PIPX_MAN_DIR": root / "man"}
    own = {name: str(folder) for name, folder in places.items()}
    command = ("pipx", "install", "--python", sys.executable, artifact)
    run(*command, seconds=BUILD_SECONDS, env={**os.environ, **own})
    return root / "bin"


def by_uv(artifact: Path, root: Path) -> Path:
    """Install by uv as a tool into folders of its own; return the folder of its programs."""
    own = {"UV_TOOL_DIR": str(root / "tools"), "UV_TOOL_BIN_DIR": str(root / "bin")}
    command = ("uv", "tool", "install", "--python", sys.executable, artifact)
    run(*command, seconds=BUILD_SECONDS, env={**os.environ, **own})
    return root / "bin"


INSTALLERS: dict[str, Callable[[Path, Path], Path]] = {"pip": by_pip, "pipx": by_pipx, "uv": by_uv}


def environment(root: Path) -> tuple[Path, tuple[str | Path, ...]]:
    """Make an empty virtual environment; return the folder of its programs, and the pip that fills it."""
    programs = root / "environment" / "bin"
    venv.create(programs.parent, with_pip=False, symlinks=True)
    return programs, (
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        programs / "python",
    )


@dataclass(frozen=True, slots=True)
class Installed:
    """What was installed: the folder of its programs, and an empty HOME in which they are used."""

    bin: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """What its programs get: an empty HOME, and a tmux server of their own."""
        path = os.pathsep.join([str(self.bin), *os.get_exec_path()])
        return {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "ORCHESTRATOR_TMUX__SOCKET": "default",
            "PATH": path,
            "TERM": "dumb",
            "TMUX_TMPDIR": str(self.home),
        }

    def run(self, verb: str, *arguments: str | Path, seconds: float = VERB_SECONDS) -> str:
        """Return what an installed command printed."""
        return run(self.bin / verb, *arguments, seconds=seconds, cwd=self.home, env=self.environment)


def answers_help(installed: Installed) -> None:
    """Raise Failed unless the command explains itself under both of its names, and says which version it is."""
    for name in ("task", "agent-orchestrator"):
        if f"{name} start" not in installed.run(name, "--help"):
            raise Failed(f"{name} --help does not speak of `{name} start`")
        if installed.run(name, "--version") != f"agent-orchestrator {__version__}\n":
            raise Failed(f"{name} --version does not say {__version__}")


def sets_up_agents(installed: Installed, project: Path) -> None:
    """Raise Failed unless what ships as files is there: agents and a skill land in a project, scripts are printed."""
    printed = installed.run("task", "setup-agents", "--project", project)
    if not list((project / ".claude" / "agents").glob("*.md")):
        raise Failed(f"task setup-agents wrote no agent, but printed\n{printed}")
    if not (project / ".claude" / "skills" / "multi-agent" / "SKILL.md").is_file():
        raise Failed(f"task setup-agents wrote no skill, but printed\n{printed}")
    printed = installed.run("task", "setup-agents", "--workflow", "--project", project)
    if not list((project / ".claude" / "protocols").glob("orchestration_*_agent_template.md")):
        raise Failed(f"task setup-agents --workflow wrote no template, but printed\n{printed}")
    installed.run("task", "setup-agents", "--workflow", "--remove", "--project", project)
    for shell in ("bash", "zsh", "fish"):
        if "_agent_orchestrator" not in installed.run("task", "completion", shell):
            raise Failed(f"task completion {shell} prints no script")


def carries_a_task(installed: Installed, project: Path) -> None:
    """Raise Failed unless a small task runs to its end on what ships, and leaves its work on a branch."""
    for name, text in PROJECT.items():
        (project / name).write_text(text, encoding="utf-8")
    author = ("-c", "user.name=wheel", "-c", "user.email=wheel@localhost")
    for command in (["init", "-q"], ["add", "-A"], [*author, "commit", "-qm", "greeting"]):
        run("git", "-C", project, *command)
    try:
        printed = installed.run(
            "task",
            "start",
            "hello",
            "--template",
            "tidy",
            "--project",
            project,
            "--follow",
            seconds=TASK_SECONDS,
        )
        if "outcome   complete; " not in printed:
            raise Failed(f"task start hello did not end as complete, but printed\n{printed}")
    finally:
        installed.run("task", "daemon", "stop")
        run("tmux", "kill-server", env=installed.environment)
    if "import os" in run("git", "-C", project, "show", "task/hello:greeting.py"):
        raise Failed(f"task/hello still has the unused import, after\n{printed}")


def works(bin_folder: Path, root: Path) -> None:
    """Raise Failed unless what was installed answers, lays down its files, and carries a task to its end."""
    home, project = root / "home", root / "project"
    home.mkdir()
    project.mkdir()
    installed = Installed(bin_folder, home)
    answers_help(installed)
    sets_up_agents(installed, project)
    carries_a_task(installed, project)


def check() -> None:
    """Build the wheel, install it with its locked dependencies, and use it; say a line for each."""
    with tempfile.TemporaryDirectory(prefix="wheel-check-") as name:
        root = Path(name)
        _, wheel = build(root / "dist")
        check_content(wheel)
        print(f"built {wheel.name} ({wheel.stat().st_size // 1024} KB)", flush=True)
        programs = by_lock(wheel, root)
        print("installed it alone", flush=True)
        works(programs, root)
        print("it answers, lays down the agents and the skill, and carries a task to its end", flush=True)


def release(into: Path) -> None:
    """Build sdist and wheel to stay, install each by each installer that is there, and use it; say a line for each."""
    shutil.rmtree(into, ignore_errors=True)
    built = build(into)
    check_content(built[1])
    print(f"built {', '.join(each.name for each in built)}", flush=True)
    for name, install in INSTALLERS.items():
        if name != "pip" and shutil.which(name) is None:
            print(f"{name} is not here: not tried", flush=True)
            continue
        for artifact in built:
            with tempfile.TemporaryDirectory(prefix="release-") as folder:
                root = Path(folder)
                works(install(artifact, root), root)
            print(f"{name} installs {artifact.name}, and it carries a task to its end", flush=True)


def main(words: list[str]) -> None:
    """Run all checks."""
    match words:
        case []:
            check()
        case ["--release", folder]:
            release(Path(folder).resolve())
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except Failed as failed:
        sys.exit(f"wheel check: {failed}")
