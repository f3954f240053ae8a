"""Agents of a workflow: they edit their files, and lie, crash, escalate, and write what others have to write."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

from orchestrator.model.workflow import AgentKind
from orchestrator.testing.fake_process import FOREVER, Signalled
from tests.simulation.engine import answering_agents
from tests.simulation.engine.agents import Agent
from tests.simulation.engine.shared_state import Life
from tests.simulation.engine.workflow_player import READY, Player

STEPS: Final = ("do:", "verify:", "resolve:")
FOREIGN: Final = ("verified", "failed", "session_complete", "pending", "blocked")


def is_of_workflow(agent: Agent) -> bool:
    """Return whether a run is of a workflow."""
    return agent.environment["STEP"].startswith(STEPS)


def workflow_life(agent: Agent) -> Life:
    """Return the life of one run of a workflow's agent."""
    player, asks = Player(agent), agent.dice.behaviour.asks
    if player.kind == "resolve":
        return answering_agents.life_of(player, _fails(player))
    lives = (DOES_ON_BOXES if agent.shared.box else DOES) if player.kind == "do" else JUDGES
    if player.kind == "do" and asks and agent.dice.deviates(asks):
        return answering_agents.asks_others(player)
    if player.kind == "do" and player.notes() and agent.dice.deviates(2 * agent.dice.behaviour.bad):
        return _settles_what_is_not_its_own(player)
    if agent.dice.deviates(agent.dice.behaviour.bad):
        life = agent.random.choice(lives)
        agent.dice.did(f"of a workflow {life.__name__.strip('_').replace('_', ' ')}")
        return life(player)
    return _does_well(player) if player.kind == "do" else _judges_well(player)


def _fails(player: Player) -> Life:
    return player.random.choice((_crashes_early, _hangs, _says_nothing))(player)


# Agents that work --------------------------------------------------------------------------------------


def _does_well(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    player.set_status(player.subject, "ready_for_verification")
    player.left_all()
    return 0


def _crashes_early(player: Player) -> Life:
    yield player.random.choice((0.0, 5.0, 300.0))
    return 1


def _is_killed_after_its_work(player: Player) -> Life:
    yield from _does_well(player)
    raise Signalled(signal.SIGKILL)


def _crashes_halfway(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own, without="run.log")
    return 3


def _hangs(player: Player) -> Life:
    yield FOREVER
    return 0


def _leaves_without_a_claim(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    return 0


def _claims_to_be_verified(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    player.set_status(player.subject, "verified")
    return 0


def _lacks_an_output(player: Player) -> Life:
    yield from player.works()
    player.put_session()
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _escalates(player: Player) -> Life:
    yield from player.works()
    kind = player.random.choice(("requirements", "technology", "security", "workflow"))
    player.put_session({"status": "escalated", "kind": kind})
    player.set_status(player.subject, player.random.choice(("blocked", "ready_for_verification")))
    return 0


def _leaves_a_note_open(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session({"status": "open"}, settles=False)
    player.set_status(
        player.subject, player.random.choice(("ready_for_verification", "completion_drive_review", "blocked"))
    )
    return 0


def _settles_what_is_not_its_own(player: Player) -> Life:
    """Resolve a note that needs others, remove one, and be ready."""
    yield from player.works()
    player.put_outputs(player.own)
    done = {
        "status": "resolved",
        "resolution": "done",
        "resolved_by": "user",
        "resolution_timestamp": player.now,
    }
    path = f"agents/{player.subject}/completion_drive/session_current.json"
    player.put_session()
    there = player.json(path)
    there["notes"] = [{**each, **done} for each in there["notes"][:-1]]
    player.write(path, there)
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _edits_others(player: Player) -> Life:
    """Write statuses of others, and change what they have handed in."""
    yield from player.works()
    for other in player.random.sample(player.plan.agents, min(3, len(player.plan.agents))):
        player.set_status(other.id, player.random.choice(FOREIGN))
    return (yield from _does_well(player))


def _breaks_the_status_file(player: Player) -> Life:
    yield from player.works()
    player.write("shared_status.json", player.random.choice((b"{", b"", b"\xff", b"[]", b'{"agents": 3}')))
    yield player.random.uniform(0, 60)
    return (yield from _does_well(player))


def _writes_an_old_status_file(player: Player) -> Life:
    """Write the whole file as it was read long before: all edits since are lost."""
    document, agents = player.statuses()
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session()
    if isinstance(agents.get(player.subject), dict):
        agents[player.subject]["status"] = "ready_for_verification"
        player.write_statuses(document, agents)
    return 0


def _keeps_a_stale_session(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.put_session(task_id="another_1764000000")
    player.set_status(player.subject, "ready_for_verification")
    return 0


def _breaks_its_session(player: Player) -> Life:
    yield from player.works()
    player.put_outputs(player.own)
    player.write(f"agents/{player.subject}/completion_drive/session_current.json", b'{"notes": [{}]}')
    player.set_status(player.subject, "ready_for_verification")
    return 0


DOES: Final[tuple[Callable[[Player], Life], ...]] = (
    _crashes_early,
    _is_killed_after_its_work,
    _crashes_halfway,
    _hangs,
    _leaves_without_a_claim,
    _claims_to_be_verified,
    _lacks_an_output,
    _escalates,
    _escalates,
    _leaves_a_note_open,
    _settles_what_is_not_its_own,
    _edits_others,
    _breaks_the_status_file,
    _writes_an_old_status_file,
    _keeps_a_stale_session,
    _breaks_its_session,
)


def _speaks_for_others(player: Player) -> Life:
    """Say of all others that they are ready, or verified: from a box that counts for nothing."""
    yield from player.works()
    document, agents = player.statuses()
    for name, entry in agents.items():
        if name != player.subject and isinstance(entry, dict):
            entry["status"] = player.random.choice((READY, "verified"))
    player.write_statuses(document, agents)
    return (yield from _does_well(player))


DOES_ON_BOXES: Final = (*DOES, _speaks_for_others)


# Verifiers ---------------------------------------------------------------------------------------------


def _judges_well(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        rejects = player.agent.dice.deviates(player.agent.dice.behaviour.rejects)
        player.say(each, ("ask" if each.kind is AgentKind.POC else "fail") if rejects else "pass")
    return 0


def _says_nothing(player: Player) -> Life:
    yield from player.works()
    return 0


def _misses_something_beside_verified(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.set_status(each.id, "verified")
        player.say(each, "fail")
    return 0


def _judges_another_task(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        said = {
            "task_id": "other_1764000000",
            "timestamp": player.now,
            "result": "fail",
            "missing_evidence": ["x"],
        }
        player.write(f"agents/{each.id}/verification_results.json", said)
        player.set_status(each.id, "verified")
    return 0


def _changes_what_it_judges(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.put_outputs(each)
        player.set_status(each.id, "verified")
    return 0


def _passes_everybody(player: Player) -> Life:
    """Write `verified` for all agents, whoever's they are."""
    yield from player.works()
    judged = player.judged()
    for each in player.plan.agents:
        player.set_status(each.id, "verified")
    for each in judged:
        player.say(each, "pass")
    return 0


def _leaves_garbage(player: Player) -> Life:
    yield from player.works()
    for each in player.judged():
        player.write(
            f"agents/{each.id}/verification_results.json", player.random.choice((b"{", b"[]", b"\xff"))
        )
        player.set_status(each.id, "verified")
    return 0


JUDGES: Final[tuple[Callable[[Player], Life], ...]] = (
    _crashes_early,
    _hangs,
    _says_nothing,
    _misses_something_beside_verified,
    _judges_another_task,
    _changes_what_it_judges,
    _passes_everybody,
    _leaves_garbage,
)
