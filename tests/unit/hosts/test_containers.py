"""How agents' programs are started in containers: the command line, what is missing, and which settings are taken."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.formats.settings import load_settings
from orchestrator.hosts.containers.command import arguments, container_name
from orchestrator.hosts.containers.docker import Docker
from orchestrator.hosts.containers.engine import Identity, client_variables
from orchestrator.hosts.containers.host import ContainerHost, ContainerKind
from orchestrator.hosts.containers.podman import Podman
from orchestrator.model.container_settings import ContainerSettings
from orchestrator.model.errors import BadFile, Refused
from orchestrator.ports.host import LaunchSpec
from orchestrator.testing.fake_clock import FakeClock
from orchestrator.testing.fake_host import FakeHost
from orchestrator.testing.memory_files import MemoryFiles

FOLDER = Path("/state/tasks/t1-0123abcd/runs/r1")
SPEC = LaunchSpec(
    run="r1",
    folder=FOLDER,
    argv=("claude", "-p", "an 'order'"),
    cwd=Path("/state/worktrees/t1/dev"),
    session="s",
    window="w",
    environment={"HOME": "/home/me", "PATH": "/usr/local/my/bin", "SHELL": "/bin/zsh", "API_KEY": "a secret"},
    writable=(FOLDER, Path("/state/worktrees/t1/dev"), Path("/src/shop/tasks/t1/handoffs")),
    readable=(Path("/src/shop/tasks/t1"), Path("/src/shop/.git")),
)
IMAGE = "registry.example.org/agents:1"


def words(spec: LaunchSpec = SPEC, options: ContainerSettings | None = None) -> tuple[str, ...]:
    return arguments(Podman(), IMAGE, spec, options or ContainerSettings(), Identity(("--user", "1:2"), "U"))


def after(option: str, said: tuple[str, ...]) -> list[str]:
    """Return what stands behind each use of an option, up to the image."""
    until = said.index(IMAGE)
    return [said[n + 1] for n, word in enumerate(said[:until]) if word == option]


def test_program_and_its_arguments_stand_last_as_they_are() -> None:
    assert words()[-3:] == SPEC.argv


def test_container_is_confined_unless_the_settings_say_otherwise() -> None:
    said = words()
    for option, value in {
        "--network": "none",
        "--memory": "4g",
        "--cpus": "2",
        "--pids-limit": "512",
        "--cap-drop": "all",
        "--pull": "never",
        "--log-driver": "none",
    }.items():
        assert after(option, said) == [value]
    assert {"--read-only", "--rm", "--init", "--interactive"} < set(said)
    assert "no-new-privileges" in after("--security-opt", said)


def test_only_what_a_run_needs_is_mounted() -> None:
    mounts = after("--mount", words())
    assert {mount for mount in mounts if not mount.endswith(",readonly")} == {
        f"type=bind,source={path},destination={path}" for path in SPEC.writable
    }
    assert {mount for mount in mounts if mount.endswith(",readonly")} == {
        f"type=bind,source={path},destination={path},readonly" for path in SPEC.readable
    }


def test_readable_folder_that_is_writable_too_may_be_written() -> None:
    """An agent's own folder of a task is granted; the task's is not."""
    spec = LaunchSpec(
        "r1", FOLDER, ("x",), Path("/w"), "s", "w", writable=(Path("/w"),), readable=(Path("/w"),)
    )
    assert after("--mount", words(spec)) == ["type=bind,source=/w,destination=/w"]


def test_secrets_stand_in_no_argument() -> None:
    """Who lists processes sees the names of variables alone."""
    said = words()
    assert "API_KEY" in after("--env", said)
    assert "a secret" not in " ".join(said)


def test_variables_of_this_machine_do_not_reach_an_image() -> None:
    passed = after("--env", words())
    assert not {"PATH", "SHELL"} & set(passed)
    assert "HOME=/home/me" in passed
    assert "ORCHESTRATOR_LAUNCHER" in passed


@pytest.mark.parametrize(
    ("home", "mounts", "made"),
    [
        ("/home/me", (), True),
        ("/", (), False),
        ("", (), False),
        ("/home/me", ("/home/me:rw",), False),
        ("/home/me", ("/home/me/.claude:rw",), True),
    ],
)
def test_home_is_empty_unless_it_is_mounted(home, mounts, made) -> None:
    spec = LaunchSpec("r1", FOLDER, ("x",), Path("/w"), "s", "w", environment={"HOME": home})
    homes = after("--tmpfs", words(spec, ContainerSettings(mounts=mounts)))
    assert any(each.startswith("/home/me:") for each in homes) is made


def test_settings_reach_the_engine() -> None:
    options = ContainerSettings(
        "512m", "0.5", 64, "agents", ("/srv/data", "/srv/cache:rw"), ("--dns", "10.0.0.1")
    )
    said = words(options=options)
    assert after("--memory", said) + after("--cpus", said) + after("--pids-limit", said) == [
        "512m",
        "0.5",
        "64",
    ]
    assert after("--network", said) + after("--dns", said) == ["agents", "10.0.0.1"]
    assert {
        "type=bind,source=/srv/data,destination=/srv/data,readonly",
        "type=bind,source=/srv/cache,destination=/srv/cache",
    } < set(after("--mount", said))


@pytest.mark.parametrize("name", ["a,readonly=false", 'a"b', "a\nb"])
def test_path_that_the_engine_would_take_apart_is_refused(name) -> None:
    spec = LaunchSpec("r1", FOLDER, ("x",), Path("/w"), "s", "w", writable=(Path("/w") / name,))
    with pytest.raises(Refused, match="cannot be mounted"):
        words(spec)


def test_names_of_containers_tell_runs_apart() -> None:
    """Ids of runs may coincide, in the folders of two users."""
    assert container_name("r1", Path("/a/r1")) != container_name("r1", Path("/b/r1"))
    assert len(container_name("r" * 200, Path("/a"))) < 64


def test_podman_maps_a_user_who_is_not_root() -> None:
    assert Podman().identity(1000, 1000, {}).options == ("--user", "1000:1000", "--userns=keep-id")
    assert Podman().identity(0, 0, {}).options == ("--user", "0:0")


def test_client_gets_what_it_finds_its_containers_by() -> None:
    environ = {"DOCKER_HOST": "x", "XDG_RUNTIME_DIR": "y", "LD_PRELOAD": "z"}
    assert client_variables(environ) == {"DOCKER_HOST": "x", "XDG_RUNTIME_DIR": "y"}


# Docker, by a program that stands in for it ----------------------------------------------------------


def docker(folder: Path, script: str) -> dict[str, str]:
    """Return an environment in which `docker` is a script."""
    program = folder / "docker"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}


def test_root_of_a_rootless_docker_is_the_user(tmp_path) -> None:
    rootless = docker(tmp_path, """echo '["name=seccomp,profile=default","name=rootless"]'""")
    assert Docker().identity(1000, 1000, rootless) == Identity(("--user", "0:0"), "uid=0,gid=0")
    plain = docker(tmp_path, """echo '["name=seccomp,profile=default"]'""")
    assert Docker().identity(1000, 1000, plain).options == ("--user", "1000:1000")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('echo "Error: No such image: agents:1" >&2; exit 1', "`docker pull agents:1`"),
        ('echo "Cannot connect to the Docker daemon" >&2; exit 1', "Cannot connect to the Docker daemon"),
        ('case $1 in run) echo "no memory controller" >&2; exit 125 ;; esac', "no memory controller"),
        ('case $1 in run) echo "Resource limits are not supported and ignored" >&2 ;; esac', "not limit"),
        ("exit 0", ""),
    ],
)
def test_what_is_missing_is_named(tmp_path, script, said) -> None:
    lacks = ContainerKind(Docker(), docker(tmp_path, script)).lacks("agents:1")
    assert said in lacks
    assert bool(said) is bool(lacks)


def test_engine_that_is_not_installed_is_named(tmp_path) -> None:
    assert ContainerKind(Docker(), {"PATH": str(tmp_path)}).lacks("x") == (
        "docker is not installed: install it by your package manager"
    )


def test_word_that_is_an_option_is_no_image(tmp_path) -> None:
    with pytest.raises(Refused):
        ContainerKind(Docker(), {}).host("--privileged", None)  # type: ignore[arg-type]


# Settings -------------------------------------------------------------------------------------------


def read(tmp_path: Path, text: str) -> ContainerSettings:
    path = tmp_path / "config.toml"
    path.write_text(f"[containers]\n{text}\n")
    path.chmod(0o600)
    return load_settings(path, {}).containers


def test_settings_are_read(tmp_path) -> None:
    text = """memory = "512m"
    cpus = 1.5
    pids = 64
    network = "agents"
    mounts = ["~/.claude:rw"]
    options = ["--dns", "::1"]"""
    home = f"{Path.home()}/.claude:rw"
    assert read(tmp_path, text) == ContainerSettings("512m", "1.5", 64, "agents", (home,), ("--dns", "::1"))


def test_settings_with_a_fault_change_nothing(tmp_path) -> None:
    """The next agent starts by the settings as they were; without any, it is refused."""
    path = tmp_path / "config.toml"
    kind = ContainerKind(Docker(), {"ORCHESTRATOR_CONFIG": str(path)})
    path.write_text("[containers]\npids = 0\n")
    path.chmod(0o600)
    with pytest.raises(Refused, match=r"containers\.pids"):
        kind.options()
    path.write_text("[containers]\npids = 64\n")
    assert kind.options().pids == 64
    path.write_text("[containers]\npids = 0\n")
    assert kind.options().pids == 64


def test_a_profile_is_of_one_host_alone(tmp_path) -> None:
    path = tmp_path / "config.toml"
    local = FakeHost(MemoryFiles(), FakeClock(0.0), lambda _: None)  # type: ignore[arg-type, return-value]

    def launched(name: str) -> tuple[str, ...]:
        host = kind.host(name, local)
        assert isinstance(host, ContainerHost)
        return host.wrap(SPEC).argv

    kind = ContainerKind(Podman(), {"ORCHESTRATOR_CONFIG": str(path)})
    path.write_text('[containers]\npids = 64\n[containers.online]\nnetwork = "agents"\n')
    path.chmod(0o600)
    plain, online = (launched(f"{IMAGE}{each}") for each in ("", "#online"))
    assert (after("--network", plain), after("--pids-limit", plain)) == (["none"], ["64"])
    assert (after("--network", online), after("--pids-limit", online)) == (["agents"], ["64"])
    with pytest.raises(Refused, match=r"has no \[containers\.offline\]"):
        launched(f"{IMAGE}#offline")


@pytest.mark.parametrize(
    "line",
    [
        'memory = "much"',
        "memory = 4",
        'cpus = "0"',
        "cpus = true",
        "pids = 1",
        'network = "--privileged"',
        'network = ""',
        'mounts = ["relative"]',
        'mounts = ["/a,destination=/b"]',
        "mounts = 3",
        'options = [""]',
        'options = ["a\\u0000b"]',
    ],
)
def test_bad_setting_is_refused_with_its_line(tmp_path, line) -> None:
    with pytest.raises(BadFile, match=r"line 2: containers\."):
        read(tmp_path, line)
