"""`task completion SHELL`: prints the script by which a shell completes `task`.

Neither shtab nor argcomplete will do: shtab knows no task names, and argcomplete loads every parser at each press of
a key (three to eight starts of Python). The script contains verbs and options; it asks `task complete` for names.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Final

from orchestrator.cli.completion_grammar import Verb, grammar
from orchestrator.cli.exits import Exit

EXAMPLE = "task completion bash >> ~/.bashrc   (or: source <(task completion bash))"

SHELLS: Final = ("bash", "zsh", "fish")


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task completion`."""
    parser.add_argument(
        "shell", choices=SHELLS, help="the shell; the first lines of its script say how to use it"
    )


def run(options: Namespace) -> int:
    """Print the script."""
    print(script(options.shell), end="")
    return Exit.DONE


def script(shell: str) -> str:
    """Return the script for one of `SHELLS`."""
    # Next to this file, wherever it is installed: `importlib.resources` costs as much as all verbs together.
    text = Path(__file__).with_name("completions").joinpath(f"task.{shell}").read_text(encoding="utf-8")
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
