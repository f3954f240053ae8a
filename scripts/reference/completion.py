"""The scripts by which shells complete `task`: a template each, filled in from the verbs' own parsers."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from orchestrator.cli.completion import SHELLS
from scripts.reference.completion_grammar import Verb, grammar

_TEMPLATES: Final = Path(__file__).with_name("completions")


def completion_scripts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each script."""
    for shell in SHELLS:
        yield f"task.{shell}", script(shell)


def script(shell: str) -> str:
    """Return the script for one of `SHELLS`."""
    text = (_TEMPLATES / f"task.{shell}").read_text(encoding="utf-8")
    verbs = grammar()
    cases = "\n".join(_fish_case(verb) if shell == "fish" else _case(verb) for verb in verbs)
    match shell:
        case "bash":
            names = ",".join(verb.name for verb in verbs)
        case "zsh":
            names = "\n".join(f"            {shlex.quote(f'{verb.name}:{verb.summary}')}" for verb in verbs)
        case _:
            names = " \\\n".join(f"            {verb.name} {shlex.quote(verb.summary)}" for verb in verbs)
    return text.replace("@VERBS@", names).replace("@CASES@", cases)


def _case(verb: Verb) -> str:
    """Return the completions of a verb for bash and zsh, as assignments."""
    # Always quoted: zsh would expand a `=` at the beginning of a value to a command's path.
    parts = [f"{name}='{' '.join(words)}'" for name, words in _lists(verb).items() if words]
    return f"            {verb.name}) {' '.join(parts)} ;;"


def _fish_case(verb: Verb) -> str:
    lists = _lists(verb).items()
    lines = [f"            set {name} {' '.join(map(shlex.quote, words))}" for name, words in lists if words]
    return "\n".join([f"        case {verb.name}", *lines])


def _lists(verb: Verb) -> dict[str, list[str]]:
    """Return a verb's options, the kinds of their values, and the kinds of its positional words; `-`: no kind."""
    valued = [
        f"{name}={option.value or '-'}"
        for option in verb.options
        if option.value is not None
        for name in option.names
    ]
    return {
        "options": [option.names[-1] for option in verb.options],
        "valued": valued,
        "places": [place or "-" for place in verb.places],
    }
