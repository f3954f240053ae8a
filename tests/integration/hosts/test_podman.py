"""Agents in real containers, by Podman: the suite of host kinds, what a container must keep in, and kills."""

from __future__ import annotations

import os
import select
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from orchestrator.hosts.containers import command
from orchestrator.hosts.containers.host import ContainerKind
from orchestrator.hosts.containers.podman import Podman
from orchestrator.ports.host import LaunchSpec, Standing
from orchestrator.testing.contracts.hosts import Bench, HostKindContract
from tests.podman import IMAGE, own_podman, podman, podman_is_there
from tests.polling import wait_until

pytestmark = pytest.mark.skipif(
    not podman_is_there(), reason="podman is missing: scripts/setup --boxes installs it"
)

ALIVE = "echo up >up; while :; do sleep 0.1; done"


@pytest.fixture(scope="module")
def variables() -> Iterator[dict[str, str]]:
    with own_podman(Path(tempfile.mkdtemp(prefix="podman-", dir="/tmp"))) as made:
        yield made


@pytest.fixture(autouse=True)
def own(variables, monkeypatch) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for name, value in (("PIDS", "40"), ("MEMORY", "64m")):
        monkeypatch.setenv(f"ORCHESTRATOR_CONTAINERS__{name}", value)


class Containers(HostKindContract):
    kind = "podman"

    def name(self, folder: Path) -> str:
        return IMAGE


class TestPodman(Containers):
    """The suite, as it is published."""


def output_of(bench: Bench, name: str, script: str) -> str:
    """Have a script run, and return what it said into the file `said`."""
    folder = bench.run(name, f"{{\n{script}\n}} >said.part 2>&1; mv said.part said")
    bench.until_gone(folder)
    return (bench.tree / "said").read_text()


def containers(variables: dict[str, str], state: str = "") -> list[str]:
    filters = ["--filter", f"status={state}"] if state else []
    return podman(variables, "ps", "--all", "--quiet", *filters).split()


def pids_of(bench: Bench, word: str) -> list[int]:
    """Return the processes on whose command line stand a word and the world of the test."""
    found = []
    for path in Path("/proc").iterdir():
        try:
            words = (path / "cmdline").read_bytes().split(b"\0") if path.name.isdigit() else []
        except OSError:
            continue
        if words and word.encode() in words[0] and str(bench.root).encode() in b"\0".join(words):
            found.append(int(path.name))
    return found


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):  # it ended with another
            os.kill(pid, signal.SIGKILL)


# What a container keeps in ------------------------------------------------------------------------


def test_container_keeps_an_agent_in() -> None:
    """It writes nowhere but where it may, and reaches neither the network, other processes nor what runs out here."""
    with socket.create_server(("127.0.0.1", 0)) as server, Containers().bench() as bench:
        port = server.getsockname()[1]
        (bench.root / "own" / "secret").write_text("a secret")
        said = output_of(
            bench,
            "r1",
            f"""
            echo x >/usr/bin/new && echo wrote into the image
            echo x >{bench.root}/state/pm.log
            cat {bench.root}/own/secret && echo read beside
            ls {bench.root}/tmux && echo read a socket of tmux
            for each in launch.sh agent.sh container.sh claimed pid exit.new container; do
                echo x >>{bench.root}/state/runs/r1/$each && echo "wrote $each"
                mv {bench.root}/state/runs/r1/$each {bench.root}/state/runs/r1/moved && echo "it moved $each"
            done
            mv {bench.root}/state/runs/r1/answers {bench.root}/state/runs/r1/moved && echo it moved answers
            echo x >{bench.root}/state/runs/r1/events || echo cannot write in its own folder
            echo x >/tmp/new && echo x >"$HOME/new" || echo has no place of its own
            ls /sys/class/net | {{ read -r first; read -r second; echo "networks: $first $second"; }}
            kill -9 {os.getpid()} && echo killed another
            bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' && echo reached the network
            ls -d /proc/[0-9]* | {{ n=0; while read -r each; do n=$((n + 1)); done; echo "processes: $n"; }}
            id -u
            """,
        )
        for wrong in (
            "wrote",
            "read beside",
            "read a socket",
            "it moved",
            "cannot write",
            "has no place",
            "killed",
            "reached",
        ):
            assert wrong not in said, said
        assert "networks: lo \n" in said
        assert said.splitlines()[-1] == str(os.geteuid())
        assert (bench.tree / "said").stat().st_uid == os.geteuid()
        assert int(said.split("processes: ")[1].split()[0]) < 10
        assert not (bench.root / "state" / "pm.log").read_bytes()
        assert not select.select([server], [], [], 0)[0]
    assert not Path("/usr/bin/new").exists()


def test_readable_folder_within_a_writable_one_stays_as_it_is() -> None:
    """An agent that works in the user's own tree cannot change what tells git which programs to run."""
    with Containers().bench() as bench:
        folder, git = bench.root / "state" / "runs" / "r1", bench.tree / ".git"
        folder.mkdir(parents=True)
        git.mkdir()
        script = "echo x >beside; echo x >.git/config; mv .git moved; mkdir new; exit 3"
        spec = LaunchSpec(
            run="r1",
            folder=folder,
            argv=("sh", "-c", script),
            cwd=bench.tree,
            session="contract-0123abcd",
            window="dev",
            environment={"PATH": os.environ["PATH"]},
            writable=(folder, bench.tree),
            readable=(git,),
        )
        bench.host.launch(spec)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.code == 3
        assert sorted(path.name for path in bench.tree.iterdir()) == [".git", "beside", "new"]
        assert not [*git.iterdir()]


def pids_file(pid: str, name: str = "pids.max") -> str:
    """Return what stands in a file of the control group that bounds the processes beside a process."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        base = Path("/sys/fs/cgroup", "pids" if controllers == "pids" else "")
        if controllers == "pids" or (number == "0" and (base / path[1:] / name).exists()):
            return (base / path[1:] / name).read_text().strip()
    return ""


def test_fork_bomb_is_bounded(variables) -> None:
    """No more processes live than the settings let, and killing it leaves nothing."""
    with Containers().bench() as bench:
        script = "echo up >up; while [ ! -e go ]; do sleep 0.05; done; f() { f | f & }; f; sleep 60"
        folder = bench.run("r1", script)
        bench.until_there(bench.tree / "up")
        (pid,) = podman(variables, "ps", "--quiet", "--format", "{{.Pid}}").split()
        assert pids_file(pid) == "40"  # else the bomb would be this machine's
        (bench.tree / "go").touch()
        # How many live at a moment goes up and down; that forks were refused is counted.
        wait_until(lambda: pids_file(pid, "pids.events") not in {"max 0", ""})
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)
    assert containers(variables) == []


def test_endless_log_is_bounded(variables) -> None:
    """What a program prints fills no more of the disk than its log may have, and nothing of the engine's."""
    with Containers().bench() as bench:
        folder = bench.run(
            "r1", "echo up >up; while :; do echo 0123456789012345678901234567890123456789; done"
        )
        bench.until_there(bench.tree / "up")
        wait_until(lambda: (folder / "pane.log").exists() and (folder / "pane.log").stat().st_size > 10_000)
        storage = Path(variables["CONTAINERS_CONF"]).parent
        kept = {path.name: path.stat().st_size for path in storage.rglob("ctr.log")}
        assert not any(kept.values()), kept
        bench.host.end(folder, kill=True)
        bench.until_gone(folder)
        assert (folder / "pane.log").stat().st_size <= 10_485_760


def test_program_that_exceeds_its_memory_is_recognised() -> None:
    with Containers().bench() as bench:
        folder = bench.run("r1", "dd if=/dev/zero of=/tmp/big bs=1M count=200; exit 5")
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.code == 5
    with Containers().bench() as bench:
        folder = bench.run("r1", "exec dd if=/dev/zero of=/tmp/big bs=1M count=200")
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.out_of_memory


# Kills --------------------------------------------------------------------------------------------


def test_container_ends_with_its_client(variables) -> None:
    """`podman run` is killed: its container is removed, and the run is gone."""
    with Containers().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        kill(pids_of(bench, "podman"))
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.signal == signal.SIGKILL
    assert containers(variables) == []


def test_killed_conmon_is_noticed(variables, monkeypatch) -> None:
    """`podman run` would wait for ever for a container whose conmon was killed."""
    monkeypatch.setattr(command, "MONITOR_INTERVAL", 0.2)
    with Containers().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        wait_until((folder / "conmon.pid").exists)
        os.kill(int((folder / "conmon.pid").read_text()), signal.SIGKILL)
        seen = bench.until_gone(folder)
        assert seen.exit is not None
        assert seen.exit.signal == signal.SIGKILL
    assert containers(variables) == []


def test_container_that_nobody_waits_for_is_named_and_removed(variables) -> None:
    """All that waits for a container is killed: it counts as left behind, until it is removed."""
    with Containers().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        os.kill(int((folder / "conmon.pid").read_text()), signal.SIGKILL)
        kill([*pids_of(bench, "sh"), *pids_of(bench, "podman")])
        left = bench.until(folder, lambda seen: seen.left if seen.standing is Standing.LEFT else None)
        wait_until(lambda: "container orchestrator-r1-" in str(bench.host.observe(folder).left))
        assert left
        assert len(containers(variables)) == 1
        bench.host.end(folder, kill=False)
        assert bench.until_gone(folder).exit is not None
    assert containers(variables) == []


def test_hang_up_ends_a_container(variables) -> None:
    """Without its terminal a program ends, as it does without a container."""
    with Containers().bench() as bench:
        folder = bench.run("r1", ALIVE)
        bench.until_there(bench.tree / "up")
        bench.host.close_session("contract-0123abcd")
        bench.until_gone(folder)
    assert containers(variables) == []


# What is missing ----------------------------------------------------------------------------------


def test_missing_image_is_named_and_not_fetched(variables) -> None:
    lacks = ContainerKind(Podman()).lacks("registry.example.org/nothing:1")
    assert "`podman pull registry.example.org/nothing:1`" in lacks


def test_limit_that_the_engine_refuses_is_reported(monkeypatch) -> None:
    monkeypatch.setenv("ORCHESTRATOR_CONTAINERS__NETWORK", "nowhere")
    assert ContainerKind(Podman()).lacks(IMAGE).startswith("podman cannot run containers here: ")


# Many -----------------------------------------------------------------------------------------------

GOOD = "n=0; while [ $n -lt 20 ]; do echo $n >>work-{n}; n=$((n + 1)); sleep 0.05; done; echo done >done-{n}"
BAD = (
    "f() { f | f & }; f; sleep 60",
    "dd if=/dev/zero of=/tmp/fill bs=1M; dd if=/dev/zero of=$HOME/fill bs=1M; sleep 60",
    "while :; do echo 0123456789012345678901234567890123456789; done",
    'while :; do for n in 1 22 80 443; do bash -c "exec 3<>/dev/tcp/127.0.0.1/$n" && echo >reached; done; done',
)


@pytest.mark.thorough(reason="ten containers on two cores; the bounds of each are tested above")
def test_four_bad_agents_hinder_six_others_in_nothing(variables) -> None:
    """Beside a fork bomb, a filler of disks, an endless log and a scanner of the network the others finish."""
    with socket.create_server(("127.0.0.1", 0)) as server, Containers().bench() as bench:
        bad = [bench.run(f"bad{n}", script) for n, script in enumerate(BAD)]
        good = [bench.run(f"good{n}", GOOD.replace("{n}", str(n))) for n in range(6)]
        for folder in good:
            seen = bench.until_gone(folder)
            assert seen.exit is not None
            assert seen.exit.code == 0
        assert sorted(path.name for path in bench.tree.glob("done-*")) == [f"done-{n}" for n in range(6)]
        for folder in bad:
            bench.host.end(folder, kill=True)
            bench.until_gone(folder)
        assert not (bench.tree / "reached").exists()
        assert not select.select([server], [], [], 0)[0]
    assert containers(variables) == []
