"""The agents of a night, as their model plays them: what each does by default, and the ways in which one does not.

An act is a generator, as `tests/clis/playing.py` has it, that is told the request and whose turn it is. It is replayed
for each request, so it holds no state: what changes from run to run is the act that the cast gives to that run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.clis.answers import Answer, Reply
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest
from tests.clis.players import NO_ARTIFACTS, Steps, hands_in
from tests.clis.playing import played
from tests.nights.moments import Turn
from tests.nights.shop import ALL_PASS, PARTS, TESTS

Act = Callable[[ModelRequest, Turn], Steps]


def explores(request: ModelRequest, turn: Turn) -> Steps:
    """Look around, and say so."""
    if request.conversation.tools:
        yield run(request, "ls shop tests")
    yield from hands_in(
        request, turn.order, turn.order.report("## Completed Work\nLooked around.", NO_ARTIFACTS)
    )


def plans(parts: Sequence[str]) -> Act:
    """List a subtask for each part."""
    lines = [f"- [{name}] {PARTS[name].title} (agent: dev)" for name in parts]

    def act(request: ModelRequest, turn: Turn) -> Steps:
        report = turn.order.report(
            "## Completed Work\nPlanned.", NO_ARTIFACTS, "\n".join(["## Subtasks", *lines])
        )
        yield from hands_in(request, turn.order, report)

    return act


def works(request: ModelRequest, turn: Turn) -> Steps:
    """Write the part and its test, run the tests, hand in."""
    part = PARTS[turn.part]
    report = turn.order.report(f"## Completed Work\nWrote {part.path}; the tests pass.", NO_ARTIFACTS)
    files = {part.path: part.code, part.test_path: part.test}
    if not request.conversation.tools:
        yield from hands_in(request, turn.order, report, files)
        return
    yield run(request, "ls shop")
    for path, text in files.items():
        yield write(request, path, text)
    yield run(request, TESTS)
    yield turn.order.hand_in(request, report)


def tests(request: ModelRequest, turn: Turn) -> Steps:
    """Run the tests, and judge by what they say."""
    verdict = "APPROVED"
    if request.conversation.tools:
        (result,) = yield run(request, TESTS)
        verdict = "APPROVED" if "OK" in result.text else "REJECTED"
    sections = f"## Completed Work\nRan {TESTS}: {verdict}.", NO_ARTIFACTS
    yield from hands_in(request, turn.order, turn.order.report(*sections, verdict=verdict))


def reviews(request: ModelRequest, turn: Turn) -> Steps:
    """Read the part, and judge by whether it is there."""
    part, verdict = PARTS[turn.part], "APPROVED"
    if request.conversation.tools:
        (result,) = yield run(request, f"cat {part.path}")
        verdict = "APPROVED" if f"def {part.name}" in result.text else "REJECTED"
    sections = f"## Completed Work\nRead {part.path}: {verdict}.", NO_ARTIFACTS
    yield from hands_in(request, turn.order, turn.order.report(*sections, verdict=verdict))


def accepts(parts: Sequence[str]) -> Act:
    """Look at each part, and tick the criteria that hold; those that do not, with the reason."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        marks = []
        for name in parts:
            (result,) = yield run(request, f"cat {PARTS[name].path}")
            there = f"def {name}" in result.text
            mark, why = ("x", f"evidence: {PARTS[name].path}") if there else (" ", "reason: it is not there")
            marks.append(f"- [{mark}] {PARTS[name].criterion} ({why})")
        (result,) = yield run(request, TESTS)
        passed = "OK" in result.text
        mark, why = ("x", "evidence: tests/") if passed else (" ", "reason: they do not")
        marks.append(f"- [{mark}] {ALL_PASS} ({why})")
        sections = (
            "## Completed Work\nJudged each criterion.",
            NO_ARTIFACTS,
            "\n".join(["## Success Criteria", *marks]),
        )
        whole = all(line.startswith("- [x]") for line in marks)
        verdict = "APPROVED" if whole else "REJECTED"
        yield from hands_in(request, turn.order, turn.order.report(*sections, verdict=verdict))

    return act


@dataclass
class Cast:
    """Who plays what. `acts` gives the acts of an agent's runs for a part in turn, the last one for all further ones.

    `thinks` is how many real seconds pass ahead of each answer.
    """

    acts: Mapping[tuple[str, str], Sequence[Act]] = field(default_factory=dict)
    thinks: float = 0.6
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The parts of each task: the bench fills it in."""

    def act_of(self, turn: Turn) -> Act:
        """Return what an agent does in this run."""
        acts = self.acts.get((turn.order.role, turn.part)) or self.acts.get((turn.order.role, "")) or ()
        if acts:
            return acts[min(turn.number, len(acts)) - 1]
        parts = self.parts[turn.order.task]
        usual: dict[str, Act] = {"explore": explores, "plan": plans(parts), "dev": works, "test": tests}
        usual["review"] = accepts(parts) if turn.part == "accept" else reviews
        return usual[turn.order.role]

    def answer(self, request: ModelRequest, turn: Turn) -> Answer:
        """Return what the model says or wants done."""
        act = self.act_of(turn)
        answer = played(lambda asked: act(asked, turn))(request)
        return (
            replace(answer, after=self.thinks) if isinstance(answer, Reply) and not answer.after else answer
        )
