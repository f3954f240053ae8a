"""What every `Host` must do: with agents that work, end, hang, ask, flood and leave things behind."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from orchestrator.hosts.ssh.link import Link
from orchestrator.model.boxes import Address
from orchestrator.model.errors import OrchestratorError, Refused
from orchestrator.model.run import Exit
from orchestrator.ports.host import Host, LaunchSpec, Observation, Standing
from orchestrator.testing.fake_cli import BUSY
from orchestrator.testing.fake_script import Report, Script, Turn
from tests.contract.fake_host_bench import FakeBench
from tests.contract.host_benches import Bench, BoxBench, LocalBench
from tests.polling import wait_until
from tests.remote import boxes
from tests.remote.boxes import Box
from tests.tmux_server import TmuxSocket

RESTS = Script()
ENDS = Script(turns=(Turn(code=0),))


@pytest.fixture(scope="module")
def box() -> Iterator[tuple[Box, Link]]:
    """Give a box and the way to it: one for all tests, as each has a tmux and a home of its own there."""
    if boxes.MISSING:
        pytest.skip(f"{' and '.join(boxes.MISSING)} missing: scripts/setup --boxes installs them")
    with boxes.boxes() as made:
        there = made.add("alpha")
        link = Link(Address("alpha"), made.folder / "s", os.environ, config=made.config, connect=60)
        yield there, link
        link.close()


@pytest.fixture(params=["local", "fake", "box"])
def bench(request: pytest.FixtureRequest, tmp_path) -> Iterator[Bench]:
    match request.param:
        case "fake":
            yield FakeBench()
        case "local":
            socket: TmuxSocket = request.getfixturevalue("tmux_socket")
            local = LocalBench(tmp_path / "it's #{a} bench", socket)
            yield local
            local.end_all()
        case _:
            box, link = request.getfixturevalue("box")
            on_box = BoxBench(box, link, tmp_path / "it's #{a} state")
            yield on_box
            on_box.end_all()


@pytest.fixture
def host(bench: Bench) -> Host:
    return bench.host


def standing(host: Host, spec: LaunchSpec) -> Standing:
    return host.observe(spec.folder).standing


def launched(bench: Bench, run: str, script: Script, **more) -> tuple[LaunchSpec, Observation]:
    """Launch a run and wait until it is alive, in a pane that bears it."""
    spec = bench.spec(run, script, **more)
    bench.host.launch(spec)
    wait_until(lambda: standing(bench.host, spec) in {Standing.ALIVE, Standing.GONE})
    wait_until(lambda: run in {pane.run for pane in bench.host.panes()})
    return spec, bench.host.observe(spec.folder)


def gone(host: Host, spec: LaunchSpec) -> Exit:
    """Wait until a run is gone, and return how it ended."""
    wait_until(lambda: standing(host, spec) is Standing.GONE)
    ended = host.observe(spec.folder).exit
    assert ended is not None
    return ended


def left(host: Host, spec: LaunchSpec) -> Observation:
    """Wait until the program of a run has ended and something of it lives, and return what is seen."""
    wait_until(lambda: standing(host, spec) is Standing.LEFT)
    return host.observe(spec.folder)


def texts_of(bench: Bench, run: str, event: str, times: int = 1) -> list[str]:
    """Wait until the agent told of an event so often, and return what it said about it."""
    wait_until(lambda: len([each for each in bench.events(run) if each["event"] == event]) >= times)
    return [str(each.get("text", "")) for each in bench.events(run) if each["event"] == event]


# Life ---------------------------------------------------------------------------------------------


def test_a_run_nobody_launched_is_not_claimed(bench: Bench, host: Host) -> None:
    assert host.observe(bench.spec("r1", RESTS).folder) == Observation(Standing.NOT_CLAIMED)


def test_a_launched_run_lives_in_a_pane_of_its_own(bench: Bench, host: Host) -> None:
    _, seen = launched(bench, "r1", RESTS, window="dev-2")
    texts_of(bench, "r1", "session_start")
    assert seen.standing is Standing.ALIVE
    assert seen.pid
    assert seen.start
    pane = next(pane for pane in host.panes() if pane.run == "r1")
    assert (pane.id, pane.session, pane.window, pane.dead) == (seen.pane, bench.session, "dev-2", False)


@pytest.mark.parametrize(
    ("turn", "exit_"),
    [
        (Turn(code=0), Exit(code=0)),
        (Turn(code=7), Exit(code=7)),
        (Turn(signal=signal.SIGKILL), Exit(signal=signal.SIGKILL)),
        (Turn(signal=signal.SIGSEGV), Exit(signal=signal.SIGSEGV)),
    ],
)
def test_exit_of_a_run_is_reported(bench: Bench, host: Host, turn: Turn, exit_: Exit) -> None:
    spec = bench.spec("r1", Script(turns=(turn,)), order="go")
    host.launch(spec)
    assert gone(host, spec) == exit_


def test_a_run_launched_again_at_any_time_runs_once(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", ENDS)
    texts_of(bench, "r1", "session_start")
    host.launch(spec)
    host.end(spec.folder, kill=True)
    gone(host, spec)
    host.launch(spec)
    wait_until(lambda: all(pane.dead or pane.window == "pm" for pane in host.panes()))
    assert standing(host, spec) is Standing.GONE
    assert len(texts_of(bench, "r1", "session_start")) == 1


def test_of_two_launches_at_once_one_runs(bench: Bench, host: Host) -> None:
    spec = bench.spec("r1", Script(turns=(Turn(code=0),)), order="go")
    start = threading.Barrier(4)

    def launch() -> None:
        start.wait()
        host.launch(spec)

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gone(host, spec) == Exit(code=0)
    wait_until(lambda: all(pane.dead or pane.window == "pm" for pane in host.panes()))
    assert len(texts_of(bench, "r1", "session_start")) == 1


def test_the_order_arrives_as_it_was_written(bench: Bench) -> None:
    order = '- `rm` $HOME "it\'s" #{pid} #(x)\n!line\n/line @x\n\nlast; é — ;'
    launched(bench, "r1", RESTS, order=order)
    assert texts_of(bench, "r1", "prompt_submitted") == [order]


# Ending -------------------------------------------------------------------------------------------


def test_term_ends_a_run_that_listens(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", RESTS)
    texts_of(bench, "r1", "session_start")
    host.end(spec.folder, kill=False)
    assert gone(host, spec) == Exit(signal=signal.SIGTERM)
    assert texts_of(bench, "r1", "session_end")


def test_kill_ends_one_that_does_not(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", Script(ignore_term=True))
    texts_of(bench, "r1", "session_start")
    host.end(spec.folder, kill=False)
    host.end(spec.folder, kill=False)
    assert standing(host, spec) is Standing.ALIVE
    host.end(spec.folder, kill=True)
    assert gone(host, spec) == Exit(signal=signal.SIGKILL)


@pytest.mark.parametrize("kill", [False, True])
def test_a_run_is_gone_only_with_all_that_it_left(bench: Bench, host: Host, kill) -> None:
    """Its program has exited, and a process in a session of its own lives on: that is told, with the exit."""
    spec = bench.spec("r1", Script(turns=(Turn(code=0),), child=True), order="go")
    host.launch(spec)
    seen = left(host, spec)
    assert seen.exit == Exit(code=0)
    assert bench.child_lives("r1")
    assert [each.pid for each in seen.left] == [seen.pid]
    host.end(spec.folder, kill=kill)
    assert gone(host, spec) == Exit(code=0)
    assert not bench.child_lives("r1")


def test_an_agent_outlives_the_launcher_that_was_killed(bench: Bench, host: Host) -> None:
    """What ignores the hang-up works on; it is no less of the run, and is ended with it."""
    spec, _ = launched(bench, "r1", Script(ignore_hup=True))
    texts_of(bench, "r1", "session_start")
    bench.kill_launcher("r1")
    seen = left(host, spec)
    assert seen.exit == Exit(lost=True)
    assert seen.left
    host.launch(spec)
    assert standing(host, spec) is Standing.LEFT
    host.end(spec.folder, kill=False)
    assert gone(host, spec) == Exit(lost=True)
    assert len(texts_of(bench, "r1", "session_start")) == 1


def test_an_agent_ends_with_the_launcher_that_was_killed(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", RESTS)
    texts_of(bench, "r1", "session_start")
    bench.kill_launcher("r1")
    assert gone(host, spec) == Exit(lost=True)


def test_a_run_that_was_ended_before_it_began_never_begins(bench: Bench, host: Host) -> None:
    spec = bench.spec("r1", RESTS)
    host.end(spec.folder, kill=False)
    assert gone(host, spec) == Exit(signal=signal.SIGTERM)
    host.launch(spec)
    host.end(spec.folder, kill=True)
    assert gone(host, spec) == Exit(signal=signal.SIGTERM)
    assert bench.events("r1") == []


def test_a_run_that_was_fenced_never_begins(bench: Bench, host: Host) -> None:
    spec = bench.spec("r1", RESTS)
    host.fence(spec.folder)
    host.fence(spec.folder)
    assert gone(host, spec) == Exit(signal=signal.SIGTERM)
    host.launch(spec)
    assert gone(host, spec) == Exit(signal=signal.SIGTERM)
    assert bench.events("r1") == []


def test_a_run_that_came_is_not_fenced(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", RESTS)
    texts_of(bench, "r1", "session_start")
    host.fence(spec.folder)
    assert standing(host, spec) is Standing.ALIVE
    host.end(spec.folder, kill=True)
    gone(host, spec)
    host.fence(spec.folder)
    assert gone(host, spec) == Exit(signal=signal.SIGKILL)


def test_only_the_run_that_is_meant_is_ended(bench: Bench, host: Host) -> None:
    one, _ = launched(bench, "agent-1", RESTS, window="agent-1")
    ten, _ = launched(bench, "agent-10", RESTS, window="agent-10")
    texts_of(bench, "agent-10", "session_start")
    host.end(one.folder, kill=True)
    gone(host, one)
    assert standing(host, ten) is Standing.ALIVE


def test_ending_what_is_gone_is_no_error(bench: Bench, host: Host) -> None:
    spec, _ = launched(bench, "r1", ENDS, order="go")
    ended = gone(host, spec)
    host.end(spec.folder, kill=False)
    host.end(spec.folder, kill=True)
    assert gone(host, spec) == ended


# An interactive agent -----------------------------------------------------------------------------


def test_a_turn_from_order_to_rest(bench: Bench, host: Host) -> None:
    report = bench.folder("r1") / "dev-20261120-060000.md"
    turn = Turn(busy=0.4, say="All is done.", report=Report(str(report), "# Report\n"))
    _, seen = launched(bench, "r1", Script(turns=(turn,)), order="work")
    texts_of(bench, "r1", "prompt_submitted")
    wait_until(lambda: BUSY in host.capture(seen.pane, 10))
    assert not bench.exists(report)
    texts_of(bench, "r1", "stop")
    assert bench.exists(report)
    wait_until(lambda: "All is done." in host.capture(seen.pane, 10))
    assert host.observe(bench.folder("r1")).standing is Standing.ALIVE


def test_a_line_typed_while_it_works_is_taken_afterwards(bench: Bench, host: Host) -> None:
    _, seen = launched(bench, "r1", Script(turns=(Turn(busy=0.3),)), order="work")
    texts_of(bench, "r1", "prompt_submitted")
    assert host.type_line(seen.pane, "r1", "and then this")
    assert texts_of(bench, "r1", "prompt_submitted", 2) == ["work", "and then this"]


def test_a_dialog_is_seen_and_answered(bench: Bench, host: Host) -> None:
    _, seen = launched(bench, "r1", Script(dialog="Do you trust this folder?"))
    wait_until(lambda: "Do you trust this folder?" in host.capture(seen.pane, 10))
    assert bench.events("r1")[0]["event"] == "permission_request"
    assert host.type_line(seen.pane, "r1", "1")
    texts_of(bench, "r1", "session_start")


def test_enter_alone_takes_what_a_dialog_preselects(bench: Bench, host: Host) -> None:
    spec, seen = launched(bench, "r1", Script(dialog="Do you trust this folder?"))
    texts_of(bench, "r1", "permission_request")
    assert host.type_line(seen.pane, "r1", "")
    assert gone(host, spec) == Exit(code=1)


def test_a_session_goes_on_in_another_run(bench: Bench, host: Host) -> None:
    turns = (Turn(say="first"), Turn(say="second", code=3))
    spec, _ = launched(bench, "r1", Script(turns=turns), order="one")
    texts_of(bench, "r1", "stop")
    host.end(spec.folder, kill=False)
    gone(host, spec)
    again, _ = launched(bench, "r2", Script(turns=turns), order="two", resume_of="r1")
    assert gone(host, again) == Exit(code=3)


# Typing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "plain words",
        "ends in a semicolon;",
        "ends in two; ;",
        ";",
        "\\;",
        "-l -- leads with a dash",
        "#{pid} #(touch x) #[fg=red] ##",
        'it\'s "quoted" `so` $HOME $(id) \\ !x {a,b} ~ * ? | & < >',
        "C-c",
        "Enter",
        "%1 =s:",
        "é — 漢字 🙂 ñ",
        "x" * 780,
        "漢" * 780,
    ],
)
def test_a_typed_line_arrives_byte_for_byte(bench: Bench, host: Host, line: str) -> None:
    _, seen = launched(bench, "r1", RESTS)
    texts_of(bench, "r1", "session_start")
    wait_until(lambda: ">" in host.capture(seen.pane, 10))
    assert host.type_line(seen.pane, "r1", line)
    assert texts_of(bench, "r1", "prompt_submitted") == [line]


@pytest.mark.parametrize(
    "line", ["two\nlines", "\r", "\x1b[201~", "\x03", "a\x7f", "\x9b31m", "a\u2028b", "\ud800", "x" * 781]
)
def test_what_is_no_plain_line_is_refused(bench: Bench, host: Host, line: str) -> None:
    _, seen = launched(bench, "r1", RESTS)
    with pytest.raises(Refused):
        host.type_line(seen.pane, "r1", line)


def test_nothing_is_typed_into_a_pane_of_another_run(bench: Bench, host: Host) -> None:
    _, seen = launched(bench, "r1", RESTS)
    texts_of(bench, "r1", "session_start")
    wait_until(lambda: ">" in host.capture(seen.pane, 10))
    assert not host.type_line(seen.pane, "r10", "not for you")
    assert not host.type_line(seen.pane, "r", "not for you")
    assert host.type_line(seen.pane, "r1", "for you")
    assert texts_of(bench, "r1", "prompt_submitted") == ["for you"]


def test_nothing_is_typed_into_what_is_gone(bench: Bench, host: Host) -> None:
    spec, seen = launched(bench, "r1", ENDS, order="go")
    gone(host, spec)
    wait_until(lambda: all(pane.dead for pane in host.panes() if pane.run == "r1"))
    assert not host.type_line(seen.pane, "r1", "anyone there?")
    assert not host.type_line("%999", "r1", "anyone there?")


# Panes and sessions -------------------------------------------------------------------------------


def test_a_pane_stays_after_its_run_until_it_is_closed(bench: Bench, host: Host) -> None:
    spec, seen = launched(bench, "r1", Script(turns=(Turn(say="last words", code=0),)), order="go")
    gone(host, spec)
    wait_until(lambda: [pane.dead for pane in host.panes() if pane.run == "r1"] == [True])
    assert "last words" in host.capture(seen.pane, 50)
    host.close_pane(seen.pane, "r10")
    assert [pane.id for pane in host.panes() if pane.run == "r1"] == [seen.pane]
    host.close_pane(seen.pane, "r1")
    host.close_pane(seen.pane, "r1")
    assert [pane for pane in host.panes() if pane.run == "r1"] == []
    assert host.capture(seen.pane, 50) == ""


def test_a_capture_is_no_longer_than_asked_for(bench: Bench, host: Host) -> None:
    _, seen = launched(bench, "r1", Script(flood=300))
    texts_of(bench, "r1", "session_start")
    wait_until(lambda: "line 299" in host.capture(seen.pane, 5))
    assert len(host.capture(seen.pane, 5).splitlines()) == 5
    assert len(host.capture(seen.pane, 200).splitlines()) == 200
    assert host.capture(seen.pane, 0) == ""


def test_the_first_window_of_a_session_follows_the_log(bench: Bench, host: Host) -> None:
    pane = next(pane for pane in host.panes() if pane.window == "pm")
    assert (pane.session, pane.run, pane.dead) == (bench.session, "", False)
    bench.log("the PM says this")
    wait_until(lambda: "the PM says this" in host.capture(pane.id, 10))


def test_a_session_is_opened_once_and_closed_without_fuss(bench: Bench, host: Host) -> None:
    bench.open_session()
    assert len(host.panes()) == 1
    host.close_session(bench.session[:-1])
    assert len(host.panes()) == 1
    host.close_session(bench.session)
    host.close_session(bench.session)
    assert host.panes() == []


def test_only_what_ended_is_closed_and_then_its_session(bench: Bench, host: Host) -> None:
    """A run that lives keeps its window and the session, whoever thought that the task had ended."""
    (lives, _), (ends, _) = (launched(bench, run, RESTS, window=run) for run in ("r1", "r2"))
    for run in ("r1", "r2"):
        texts_of(bench, run, "session_start")
    host.end(ends.folder, kill=True)
    gone(host, ends)
    wait_until(lambda: any(pane.dead for pane in host.panes()))
    host.close_ended(bench.session)
    assert {pane.run for pane in host.panes()} == {"", "r1"}
    host.end(lives.folder, kill=True)
    gone(host, lives)
    wait_until(lambda: any(pane.dead for pane in host.panes()))
    host.close_ended(bench.session)
    host.close_ended(bench.session)
    assert host.panes() == []


def test_without_its_session_a_run_is_not_launched(bench: Bench, host: Host) -> None:
    spec = bench.spec("r1", RESTS)
    host.close_session(bench.session)
    with pytest.raises(OrchestratorError):
        host.launch(spec)
    assert standing(host, spec) is Standing.NOT_CLAIMED
    bench.open_session()
    host.launch(spec)
    texts_of(bench, "r1", "session_start")


@pytest.mark.parametrize(
    "name", ["", "-R", "a:b", "a.b", "=x", "%1", "#{pid}", "a b", "../x", "é", "x" * 129]
)
def test_names_that_tmux_could_misread_are_refused(bench: Bench, host: Host, name: str) -> None:
    spec = bench.spec("r1", RESTS)
    for changed in (replace(spec, session=name), replace(spec, window=name), replace(spec, run=name)):
        with pytest.raises(Refused):
            host.launch(changed)
    assert standing(host, spec) is Standing.NOT_CLAIMED
    assert len(host.panes()) == 1


# Processor time ---------------------------------------------------------------------------------------


def test_processor_time_is_of_the_living(bench: Bench) -> None:
    spec, _ = launched(bench, "r-cpu", RESTS)
    first = bench.host.cpu(spec.folder)
    assert first is not None
    assert 0.0 <= first < 60.0
    wait_until(lambda: (now := bench.host.cpu(spec.folder)) is not None and now >= first)
    bench.host.end(spec.folder, kill=True)
    gone(bench.host, spec)
    wait_until(lambda: bench.host.cpu(spec.folder) is None)


def test_run_that_never_launched_has_no_usage(bench: Bench) -> None:
    assert bench.host.cpu(bench.folder("r-none")) is None
