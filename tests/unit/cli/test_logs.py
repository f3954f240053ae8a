import gzip
import select
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchestrator import own_files
from orchestrator.cli.tail import Tail, last_lines, last_packed_lines, readable
from tests.odd_files import make


def _write(path: Path, text: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    return path


def test_the_pms_log(house, task):
    _write(house.task() / "pm.log", b"one\ntwo\nthree\n")
    assert task("logs", "tidy", "-n", "2").out == "two\nthree\n"


def ran(house, **logs):
    """Make a task whose runs, in this order, showed their own names; return what opens them."""
    home = house.task()
    for run in logs:
        _write(home / "runs" / run / "pane.log", f"{run}\n".encode())
    house.ran(home, *({"id": run, **more} for run, more in logs.items()))


def test_any_run_is_shown_by_its_agent_step_attempt_or_id(house, task):
    ran(
        house,
        first={"attempt": 1},
        again={"attempt": 2},
        check={"step": "test:one", "instance": "test-check", "agent": "test", "purpose": "check"},
        tested={"step": "test:one", "instance": "test", "agent": "test"},
        other={"step": "dev:two", "instance": "dev-2"},
    )
    for words, shown in (
        (["dev"], "other"),
        (["dev-2"], "other"),
        (["dev:one"], "again"),
        (["dev:one", "--attempt", "1"], "first"),
        (["test:one"], "tested"),
        (["test:one", "--check"], "check"),
        (["test", "--check"], "check"),
        (["test-check"], "check"),
        (["first"], "first"),
    ):
        said = task("logs", "tidy", *words)
        assert said.out == f"{shown}\n", words
        assert f"run {shown}" in said.err


def test_what_is_not_there_is_said(house, task):
    ran(house, only={})
    assert "there is no log yet" in task("logs", "tidy").err
    for words in (["nobody"], ["dev", "--check"], ["dev:one", "--attempt", "3"]):
        said = task("logs", "tidy", *words)
        assert said.code == 2
        assert "dev:one" in said.err


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;cm0gLXJm\x1b\\text", "text"),
        ("\x1b]never ended", ""),
        ("10%\r50%\rdone\r", "done"),
        ("\x9b2Jtext", "text"),
        ("\x1bPq#0\x1b\\text", "text"),
        ("\x1b(Btext\x1b=", "text"),
        ("a\x00b\x08c", "a\ufffdb\ufffdc"),
        ("tab\there", "tab here"),
    ],
)
def test_nothing_in_a_line_is_obeyed(line, shown):
    assert readable(line) == shown


def test_a_log_is_read_from_its_end(tmp_path):
    log = _write(tmp_path / "log", b"".join(b"line %d\n" % n for n in range(100_000)))
    assert last_lines(log, 3) == ["line 99997", "line 99998", "line 99999"]
    assert last_lines(log, 0) == []
    assert len(last_lines(log, 1_000_000)) == 100_000


def test_a_tail_gives_whole_lines_once(tmp_path):
    log = tmp_path / "log"
    tail = Tail(log, from_end=True)
    assert list(tail.lines()) == []
    log.write_bytes(b"one\ntw")
    assert list(tail.lines()) == ["one"]
    log.write_bytes(b"one\ntwo\n")
    assert list(tail.lines()) == ["two"]
    log.write_bytes(b"new\n")
    assert list(tail.lines()) == ["new"]


@contextmanager
def following():
    """Follow the PM's log into a pipe, where output is kept back unless it is flushed."""
    command = [sys.executable, "-m", "orchestrator.cli", "logs", "tidy", "-f"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process):
    ready, _, _ = select.select([process.stdout], [], [], 10)
    assert ready, "nothing was printed"
    return process.stdout.readline()


def test_following_goes_on_until_it_is_interrupted(house):
    log = _write(house.task() / "pm.log", b"one\n")
    with following() as process:
        assert next_line(process) == b"one\n"
        with log.open("ab") as file:
            file.write(b"two\n")
        assert next_line(process) == b"two\n"
        process.send_signal(2)
        assert process.wait(10) == 130


def test_a_log_that_began_while_followed_is_shown_whole(house):
    home = house.task()
    with following() as process:
        _write(home / "pm.log", b"one\n")
        assert next_line(process) == b"one\n"


def test_no_secret_is_shown(house, task):
    key = b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADAN\n-----END PRIVATE KEY-----\n"
    log = b"begin\n\x1b[31mtoken=hunter2hunter2\x1b[0m\n" + key + b"end\n"
    home = house.task()
    house.ran(home, {"id": "r-1"})
    _write(home / "runs" / "r-1" / "pane.log", log)
    _write(home / "pm.log", log)
    for words in (["logs", "tidy"], ["logs", "tidy", "dev"]):
        assert task(*words).out == "begin\ntoken=[redacted]\n[redacted]\n[redacted]\n[redacted]\nend\n"
    assert task("logs", "tidy", "-n", "3").out == "[redacted]\n[redacted]\nend\n"


def test_a_packed_log_is_shown_like_any_other(house, task):
    home = house.task()
    house.ran(home, {"id": "old-run"})
    folder = home / "runs" / "old-run"
    _write(folder / "pane.log.gz", gzip.compress(b"one\ntwo\r\n\x1b[31mthree\n"))
    assert task("logs", "tidy", "dev", "-n", "2").out == "two\nthree\n"


def test_of_a_log_that_is_not_kept_any_more_it_is_said(house, task):
    home = house.task()
    house.ran(home, {"id": "old-run"})
    _write(home / "runs" / "old-run" / "exit", b"code 0\n")
    said = task("logs", "tidy", "dev")
    assert said.code == 1
    assert "its log was removed" in said.err


def test_rotated_log_is_shown_with_the_end_of_the_old_one(house, task):
    home = house.task()
    _write(home / "pm.log.1", b"one\ntwo\n")
    _write(home / "pm.log", b"three\n")
    assert task("logs", "tidy", "-n", "2").out == "two\nthree\n"
    assert task("logs", "tidy", "-n", "1").out == "three\n"


@pytest.mark.parametrize("what", ["pipe", "folder"])
@pytest.mark.parametrize("name", ["pm.log", "pane.log", "pane.log.gz"])
def test_a_log_that_is_no_plain_file_is_named(house, task, alarmed, name, what):
    """A pipe there held up `task logs`, and the PM's window, until somebody wrote into it."""
    ran(house, only={})
    home = house.task()
    (home / "runs" / "only" / "pane.log").unlink()
    make((home if name == "pm.log" else home / "runs" / "only") / name, what)
    said = task("logs", "tidy", *([] if name == "pm.log" else ["dev"]))
    assert said.code == 1
    assert f"{name} is not a plain file" in said.err


def test_of_a_packed_log_without_end_only_a_part_is_read(tmp_path, alarmed, monkeypatch):
    monkeypatch.setattr(own_files, "LARGEST", 1000)
    path = tmp_path / "pane.log.gz"
    path.write_bytes(gzip.compress(b"line\n" * 1_000_000))
    assert last_packed_lines(path, 3) == ["line"] * 3


@pytest.mark.parametrize("what", ["pipe", "folder"])
def test_growing_log_that_is_replaced_is_not_waited_for(tmp_path, alarmed, what):
    path = _write(tmp_path / "pm.log", b"one\n")
    tail = Tail(path, from_end=False)
    assert list(tail.lines()) == ["one"]
    make(path, what)
    with pytest.raises(own_files.Untrusted):
        list(tail.lines())
