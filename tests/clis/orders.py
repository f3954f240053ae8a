"""Orders to be delivered, each another one, by seed: all that some program has mistaken for something else."""

from __future__ import annotations

import random
from typing import Final

LINES: Final = 100
BYTES: Final = 5 * 1024

_BEGINNINGS: Final = (
    "!",
    "/",
    "#",
    "@",
    "-",
    ">",
    "--",
    "//",
    "```",
    "<",
    "*",
    "$",
    "%",
    "|",
    "?",
    "&",
    "\t",
    "    ",
)
_WORDS: Final = (
    *(
        "`whoami`",
        "$(id)",
        "$HOME",
        "${PATH}",
        "$$",
        "100 %",
        "%s",
        "%%",
        "\\n",
        "\\",
        "\\\\",
        "a;",
        ";",
        "&&",
    ),
    *('"quoted"', "'quoted'", "it's", '"', "''", "~", "!!", "!$", "@made.txt", "#{pane_id}", "#[fg=red]"),
    *("{{x}}", "[y/N]", "yes", "/clear", "/help", "exit", "C-c", "Enter", "^C", "\t", "  ", "—", "“so”", "…"),
    *("naïve", "ünïcödé", "Ωμέγα", "日本語", "עברית", "🦉", "👩🏽\u200d💻", "e\u0301", "ﬁ", "\r", "\x1b[2J"),
    *("<b>", "</x>", "<system-reminder>", "[Pasted text #1]", "**bold**", "| a | b |", "1.", "- [ ]"),
    *("the", "order", "of", "a", "step", "and", "what", "it", "needs", "COMPLETE"),
)
_LAST: Final = (";", "\\;", "\\", "%", "`", "'", '"', "$", "!", "🦉", "/", "…", ".")


def an_order(seed: int) -> str:
    """Return an order of at least 100 lines and 5 KB; the same for the same seed."""
    chance = random.Random(seed)
    lines = [f"Order {seed}: do as follows."]
    lines += [f"{beginning}{_words(chance, 4)}" for beginning in _BEGINNINGS]
    lines += [_words(chance, chance.randint(0, 14)) for _ in range(LINES - len(lines) - 2)]
    # Longer than a terminal's line, and than what a terminal takes at once.
    lines.append(_words(chance, 900).replace("\t", " "))
    chance.shuffle(lines)
    while len("\n".join(lines).encode()) < BYTES:
        lines.append(_words(chance, 14))
    return "\n".join(["Do as follows.", *lines, f"{_words(chance, 5)} {chance.choice(_LAST)}"])


def _words(chance: random.Random, count: int) -> str:
    return " ".join(chance.choices(_WORDS, k=count))
