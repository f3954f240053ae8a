"""`task attach` and a real tmux server on a socket of its own."""

import json
import os
import pty
import secrets
import subprocess
import sys
import time

import pytest

ID = "tidy-0a1b2c3d"
COMMAND = [sys.executable, "-m", "orchestrator.cli", "attach", "tidy"]
SECONDS = 10


@pytest.fixture
def socket():
    """The socket of a server that is ended with the test."""
    name = f"attach-{secrets.token_hex(4)}"
    yield name
    subprocess.run(["tmux", "-L", name, "kill-server"], capture_output=True, check=False)


@pytest.fixture
def tmux(socket):
    """Run a tmux command there and return what it printed."""

    def run(*command):
        done = subprocess.run(
            ["tmux", "-L", socket, "-f", "/dev/null", *command], capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return run


@pytest.fixture
def environment(tmp_path, socket, tmux, monkeypatch):
    """A task whose session has a window for the PM and one for an agent, and the session of its neighbour."""
    monkeypatch.chdir(tmp_path)
    tmux("new-session", "-d", "-s", f"{ID}0", "-x", "80", "-y", "24", "cat")
    tmux("new-session", "-d", "-s", ID, "-n", "pm", "-x", "80", "-y", "24", "cat")
    pane = tmux("new-window", "-d", "-t", f"={ID}:", "-n", "dev", "-P", "-F", "#{pane_id}", "cat")
    shown = {"version": 1, "task": "tidy", "project": "/x", "phase": "DEVELOPING", "state": "running"}
    agents = [
        {"name": "dev", "agent": "dev", "run": "r-1", "state": "alive", "pane": pane},
        {"name": "stray", "agent": "stray", "run": "r-2", "state": "alive", "pane": "%0"},
        # The number of its pane there is that of another window here.
        {"name": "far", "agent": "far", "run": "r-3", "state": "alive", "pane": pane, "host": "me@box:22"},
        {"name": "lost", "agent": "lost", "run": "r-4", "state": "alive", "pane": "", "host": "me@box"},
    ]
    box = tmux("new-window", "-d", "-t", f"={ID}:", "-n", "box", "-P", "-F", "#{pane_id}", "cat")
    tmux("set-option", "-p", "-t", box, "@box", "me@box:22")
    home = tmp_path / "state" / "tasks" / ID
    home.mkdir(parents=True)
    (home / "state.json").write_text(json.dumps({**shown, "agents": agents}))
    return {
        **os.environ,
        "ORCHESTRATOR_HOME": str(tmp_path / "state"),
        "ORCHESTRATOR_TMUX__SOCKET": socket,
        "TERM": "xterm",
        "TMUX": "/nowhere,1,0",
    }


@pytest.fixture
def until(tmux):
    """Wait until a client is attached to a session and a window, read-only or not."""

    def wait(wanted):
        deadline = time.monotonic() + SECONDS
        while (
            seen := tmux("list-clients", "-F", "#{session_name} #{window_name} #{client_readonly}")
        ) != wanted:
            assert time.monotonic() < deadline, seen

    return wait


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], f"{ID} pm 0"),
        (["dev"], f"{ID} dev 0"),
        (["far"], f"{ID} box 0"),
        (["--read-only"], f"{ID} pm 1"),
        (["dev", "--read-only"], f"{ID} dev 1"),
    ],
    ids=str,
)
def test_it_becomes_tmux_at_the_right_window(tmux, until, environment, words, wanted):
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env=environment,
        start_new_session=True,
    ) as process:
        os.close(follower)
        until(wanted)
        tmux("detach-client", "-s", f"={ID}")
        os.set_blocking(leader, False)
        assert process.wait(SECONDS) == 0
    os.close(leader)


def test_without_a_terminal_it_says_what_to_do(environment):
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "task: attach needs a terminal; without one: `task logs tidy`\n"


def test_a_pane_of_another_session_is_not_looked_at(environment):
    done = subprocess.run([*COMMAND, "stray"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "that agent's window is closed" in done.stderr


def test_box_agent_without_window_is_not_mistaken(environment):
    """An agent whose box has no window here is not taken for another."""
    done = subprocess.run([*COMMAND, "lost"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "works on me@box, which has no window here now; to see that box: `task hosts`" in done.stderr


def test_a_session_whose_name_only_begins_alike_is_not_taken(tmux, environment):
    tmux("kill-session", "-t", f"={ID}")
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "tidy has no tmux session now" in done.stderr
