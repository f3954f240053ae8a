"""Ways in which an agent does not do as it should, for the cast of a night."""

from __future__ import annotations

from typing import Final

from tests.clis.answers import Reply, Text, ToolCall, say
from tests.clis.hands import run, write
from tests.clis.model_request import ModelRequest
from tests.clis.players import NO_ARTIFACTS, Steps, hands_in
from tests.nights.agents import Act, works
from tests.nights.moments import Turn
from tests.nights.shop import ALL_PASS, PARTS, TESTS

TEMPORARY: Final = ".md.part"
"""How the name of a handoff ends that its writer saves under another name first."""


def says_nothing(request: ModelRequest, turn: Turn) -> Steps:
    """Write the part, and end the turn without a handoff, also when told to write it."""
    if not turn.nagged:
        yield write(request, PARTS[turn.part].path, PARTS[turn.part].code)
    yield say("I have looked at it, and that is that.")


def asks_first(request: ModelRequest, turn: Turn) -> Steps:
    """End the turn with a question that the order answers already; when told to go on, work."""
    if turn.nagged:
        yield from works(request, turn)
        return
    yield say("Shall I go on and write the function, with its test?")


def does_nothing(_request: ModelRequest, turn: Turn) -> Steps:
    """Write nothing and hand in COMPLETE."""
    part = PARTS[turn.part]
    yield turn.order.hand_in(
        _request, turn.order.report(f"## Completed Work\nWrote {part.path}.", NO_ARTIFACTS)
    )


def names_ghosts(request: ModelRequest, turn: Turn) -> Steps:
    """Write the part, and list artifacts that are not there."""
    part = PARTS[turn.part]
    yield write(request, part.path, part.code)
    yield write(request, part.test_path, part.test)
    ghosts = f"## Artifacts Generated\n- {turn.order.artifacts}/design.md\n- artifacts/code/notes.md"
    yield turn.order.hand_in(request, turn.order.report(f"## Completed Work\nWrote {part.path}.", ghosts))


def works_wrongly(request: ModelRequest, turn: Turn) -> Steps:
    """Write the part wrongly with a test that shows it, run nothing, and claim that all is well."""
    part = PARTS[turn.part]
    yield write(request, part.path, part.wrong)
    yield write(request, part.test_path, part.test)
    report = turn.order.report(f"## Completed Work\nWrote {part.path}; all tests pass.", NO_ARTIFACTS)
    yield turn.order.hand_in(request, report)


def works_on_a_box(request: ModelRequest, turn: Turn) -> Steps:
    """Work, and commit it, as the order of an agent on a box asks."""
    part = PARTS[turn.part]
    for path, text in {part.path: part.code, part.test_path: part.test}.items():
        yield write(request, path, text)
    yield run(request, TESTS)
    yield run(request, f"git add {part.path} {part.test_path}")
    yield run(request, f"git commit -q -m 'Add {part.name}'")
    yield turn.order.hand_in(
        request, turn.order.report(f"## Completed Work\nWrote {part.path}.", NO_ARTIFACTS)
    )


def repeats(times: int, command: str = "ls shop", then: Act = says_nothing) -> Act:
    """Run one command again and again, whatever is said meanwhile."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        for _ in range(times):
            yield run(request, command)
        yield from then(request, turn)

    return act


def wants(command: str, then: Act = works) -> Act:
    """Want a command that nobody foresaw, then work."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        yield run(request, command)
        yield from then(request, turn)

    return act


def explains_first(request: ModelRequest, turn: Turn) -> Steps:
    """Say at length what is to be done, then do it: the half of the answer lies amid its words."""
    words = " ".join(f"Point {number} of the plan is to look at the shop." for number in range(40))
    yield Reply((Text(words), Text(words), *run(request, "ls shop").parts), cuts=20)
    yield from works(request, turn)


def works_slowly(steps: int, pace: float = 1.0, then: Act = works) -> Act:
    """Look at something else again and again before the work: `pace` is real seconds for each."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        for number in range(steps):
            looked = run(request, f"echo step {number} of {steps}")
            yield Reply(looked.parts, after=pace)
        yield from then(request, turn)

    return act


def writes_half(request: ModelRequest, turn: Turn) -> Steps:
    """Make real progress (another note in the tree with each run), then go on; the bench kills the CLI meanwhile."""
    part = PARTS[turn.part]
    yield write(request, f"shop/{part.name}_{turn.number}.txt", f"Progress of run {turn.number}.\n")
    yield write(request, part.path, part.code)
    yield Reply(run(request, "ls shop").parts, after=20.0)
    yield from works(request, turn)


def reads_much(files: int, then: Act = works) -> Act:
    """Read one file after the other, so that the conversation grows."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        for number in range(files):
            yield run(request, f"cat README.md shop/prices.py; echo {number}")
        yield from then(request, turn)

    return act


def saves_aside(request: ModelRequest, turn: Turn) -> Steps:
    """Work, and save the handoff under a temporary name: its writer renames it a while later (`troubles.renames`)."""
    part = PARTS[turn.part]
    if turn.nagged:
        yield say("My handoff is being saved.")
        return
    for path, text in {part.path: part.code, part.test_path: part.test}.items():
        yield write(request, path, text)
    report = turn.order.report(f"## Completed Work\nWrote {part.path}.", NO_ARTIFACTS)
    named = turn.order.hand_in(request, report)
    yield Reply(tuple(_renamed(part) for part in named.parts))
    yield say("My handoff is being saved.")


def _renamed(part: Text | ToolCall) -> Text | ToolCall:
    if isinstance(part, Text) or isinstance(part.arguments, str):
        return part
    changed = {
        key: value.replace(".md", TEMPORARY) if isinstance(value, str) and key != "content" else value
        for key, value in part.arguments.items()
    }
    return ToolCall(part.name, changed)


def approves(request: ModelRequest, turn: Turn) -> Steps:
    """Approve without a look."""
    report = turn.order.report("## Completed Work\nLooks good.", NO_ARTIFACTS, verdict="APPROVED")
    yield from hands_in(request, turn.order, report)


def rejects(why: str) -> Act:
    """Reject, for a reason."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        report = turn.order.report(f"## Completed Work\n{why}", NO_ARTIFACTS, verdict="REJECTED")
        yield from hands_in(request, turn.order, report)

    return act


def ticks_all(*parts: str) -> Act:
    """Tick every criterion without a look, naming as evidence files that should be there."""

    def act(request: ModelRequest, turn: Turn) -> Steps:
        marks = [f"- [x] {PARTS[name].criterion} (evidence: {PARTS[name].path})" for name in parts]
        marks.append(f"- [x] {ALL_PASS} (evidence: {TESTS})")
        sections = "## Completed Work\nAll is well.", NO_ARTIFACTS, "\n".join(["## Success Criteria", *marks])
        yield from hands_in(request, turn.order, turn.order.report(*sections, verdict="APPROVED"))

    return act
