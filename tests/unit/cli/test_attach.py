import pytest

SOCKET = "agent-orchestrator-test-of-attach-without-a-server"


@pytest.fixture(autouse=True)
def socket(monkeypatch):
    monkeypatch.setenv("ORCHESTRATOR_TMUX__SOCKET", SOCKET)


def test_without_a_session_it_says_what_to_do(house, task):
    house.task(state="stopped")
    said = task("attach", "tidy")
    assert said.code == 1
    again = f"task start tidy --project {house.project}"
    assert f"tidy has no tmux session now (stopped); to start it: `{again}`" in said.err


@pytest.mark.parametrize("state", ["running", "complete"])
def test_no_start_is_advised_that_makes_no_session(house, task, state):
    """Of a complete task it was said that `task start` makes a session; there was nothing left to start."""
    house.task(state=state)
    assert "task start" not in task("attach", "tidy").err


def test_agent_without_a_window_is_reported(house, task):
    house.task(agents=[house.agent(), house.agent("review", agent="review", state="gone")])
    said = task("attach", "tidy", "review")
    assert said.code == 2
    assert "'review' has no window in tidy now; agents with a window: dev" in said.err


def test_without_tmux_it_says_so(house, task, monkeypatch):
    house.task()
    monkeypatch.setenv("PATH", "/nowhere")
    assert "tmux is not installed" in task("attach", "tidy").err
