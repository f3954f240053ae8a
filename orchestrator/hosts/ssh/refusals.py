"""The state of the link to a box after ssh reported a refusal, with what the user can do."""

from __future__ import annotations

import shlex

from orchestrator.formats.ssh_words import Words
from orchestrator.model.boxes import Address, Trouble
from orchestrator.ports.box_link import State, Way


def refused(address: Address, words: Words, known: str, at: float) -> State:
    """Return the state after ssh reported a refusal. `known` is the fingerprint of the key on file."""
    return State(Way.REFUSED, at, words.why, words.trouble, words.offered, known, _advice(address, words))


def _advice(address: Address, words: Words) -> str:
    command = shlex.join(["ssh", *address.words(), "true"])
    match words.trouble:
        case Trouble.UNREACHABLE:
            return ""
        case Trouble.AUTH:
            return f"unlock your key or agent, or have the key let in there: `{command}` must ask nothing"
        case Trouble.UNKNOWN_HOST:
            return f"compare its key by another way, and accept it: `{command}`"
        case Trouble.CHANGED_KEY:
            kept = f" (line {words.line} of {words.known_in})" if words.known_in else ""
            return f"ask whoever runs the box whether its key was changed; only then replace it in known_hosts{kept}"
        case Trouble.SETTINGS:
            return f"correct your ssh settings until `{command}` works"
