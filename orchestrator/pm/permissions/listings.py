"""Commands that print names of files: below which folder, and how the files were chosen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from orchestrator.pm.permissions.fields import ANYTHING, SOME_FILE, Field
from orchestrator.pm.permissions.matching import wild
from orchestrator.pm.permissions.paths import protected, secret

_PLAIN_LS: Final = frozenset("-1trSdhUvXcu")
_SETTINGS: Final = (
    *(
        ".git",
        "config",
        "HEAD",
        "hooks",
        "index",
        "packed-refs",
        ".claude",
        ".codex",
        ".gemini",
        ".opencode",
        "settings.json",
    ),
    *(
        "settings.local.json",
        ".claude.json",
        ".mcp.json",
        "config.toml",
        "hooks.json",
        "opencode.json",
        "opencode.jsonc",
    ),
)
"""Names of files that control git or an agent's program."""

_HIDDEN: Final = re.compile(r"(?:^|/)\.|env|rsa|25519|cred|secret|passw|token", re.IGNORECASE)
_GLOBBED: Final = re.compile(r"[*?\[]")


def apart_from_settings(patterns: Sequence[str]) -> bool:
    """Return whether patterns of names are given, and none may match a file that controls git or an agent's program."""
    found = [pattern.rpartition("/")[2] or pattern for pattern in patterns]
    return bool(found) and not any(
        wild(pattern.replace("?", "*"), name) for pattern in found for name in _SETTINGS
    )


def apart(root: str) -> bool:
    """Return whether a starting folder is one inside a tree, and not the tree itself."""
    parts = [part for part in root.split("/") if part not in {"", "."}]
    return not root.startswith("/") and bool(parts) and not any(part.startswith(".") for part in parts)


def all_below(roots: Sequence[str]) -> bool:
    """Return whether all folders are below the one that a command runs in."""
    return all(not root.startswith("/") and ".." not in root.split("/") for root in roots)


def listed(name: str, rest: Sequence[Field]) -> str:
    """Return what `ls`, or a search that prints names, prints."""
    if any(not each.known for each in rest) or hides(rest):
        return ANYTHING
    options = "".join(each.text for each in rest if re.fullmatch(r"-[A-Za-z0-9]+", each.text))
    operands = [each.text for each in rest if not each.text.startswith("-")]
    if (
        name == "ls"
        and len(operands) == 1
        and (parted := re.fullmatch(r"((?:[^*?\[]*/)?)([^/]*[*?\[][^/]*\.\w+)", operands[0]))
    ):
        return f"{parted[1]}{SOME_FILE}" if set(options) <= _PLAIN_LS and "~" not in parted[1] else ANYTHING
    if name == "ls":
        single = len(operands) <= 1 and not any(
            each.startswith(("/", "~")) or ".." in each for each in operands
        )
        return (
            SOME_FILE
            if set(options) <= _PLAIN_LS and single and not any(each.text.startswith("--") for each in rest)
            else ANYTHING
        )
    if not lists_names(rest) and "--files" not in {each.text for each in rest}:
        return ANYTHING
    far = any("/" in each.text for each in rest if each.option)
    if not any(
        re.match(r"-[A-Za-z]*[ef]|--regexp|--file", each.text) and not each.text.startswith("--files")
        for each in rest
    ):
        operands = operands[1:] if "--files" not in {each.text for each in rest} else operands
    return SOME_FILE if all_below(operands) and not far else ANYTHING


def lists_names(rest: Sequence[Field]) -> bool:
    """Return whether a search prints the names of the files in which it found something."""
    return any(
        re.fullmatch(r"-[A-Za-z]*[lL][A-Za-z]*", each.text) or each.text.startswith("--files-with")
        for each in rest
    )


def hides(rest: Sequence[Field]) -> bool:
    """Return whether a command may be searching for files with secrets."""
    return any(
        secret("/" + each.text.strip("*"))
        or protected("/" + each.text.strip("*"))
        or any(_GLOBBED.search(part) and _HIDDEN.search(part) for part in each.text.split("/"))
        for each in rest
        if not each.option
    )
