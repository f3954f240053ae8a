"""Scripts for the model server: answers in turn, faults first, or a played agent.

A played agent is a generator that is told the request of its turn, yields what the model says or wants done, and is
sent what the tools brought back:

    def turn(request):
        (result,) = yield run(request, "ls")
        yield say(f"I found {result.text}")

It holds no state between two requests: the conversation in each request is replayed. So it works across retries,
several agents at once, and resumed sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable

from tests.clis.answers import Answer, Reply, say
from tests.clis.model_request import ModelRequest, ToolResult
from tests.clis.model_server import Script

Turn = Callable[[ModelRequest], Generator[Reply, tuple[ToolResult, ...], None]]

DONE = "Done."


class ScriptIsOver(AssertionError):
    """A model was asked more often than the script has answers."""


def in_turn(*answers: Answer, then: Script | None = None) -> Script:
    """Give each request the next answer; after the last one `then`, or ScriptIsOver is raised."""
    left = iter(answers)
    lock = threading.Lock()

    def script(request: ModelRequest) -> Answer:
        with lock:
            answer = next(left, None)
        if answer is not None:
            return answer
        if then is None:
            raise ScriptIsOver(f"{len(answers)} answers; request {request.number}: {request.prompt[:200]!r}")
        return then(request)

    return script


def always(answer: Answer) -> Script:
    """Give each request the same answer."""
    return lambda _request: answer


def played(turn: Turn) -> Script:
    """Play an agent: each prompt of the user's is a turn, from its beginning. After its end the model is done."""

    def script(request: ModelRequest) -> Answer:
        playing = turn(request)
        return _after(playing, request.steps)

    return script


def _after(
    playing: Generator[Reply, tuple[ToolResult, ...], None], steps: Iterable[tuple[ToolResult, ...]]
) -> Reply:
    try:
        answer = next(playing)
        for results in steps:
            answer = playing.send(results)
    except StopIteration:
        return say(DONE)
    return answer
