"""Packing, unpacking and copying whole folders."""

from __future__ import annotations

import re
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest
from orchestrator.pm.permissions.options import split_options

_TAR: Final = re.compile(r"-?([xctruzjJavkmpfhO]*)([xctrud])([xctruzjJavkmpfhO]*)")
_TAR_WORDS: Final = (
    *(
        "--exclude=",
        "--strip-components=",
        "--gzip",
        "--xz",
        "--zstd",
        "--bzip2",
        "--auto-compress",
        "--verbose",
        "--wildcards",
    ),
    *(
        "--no-same-owner",
        "--no-same-permissions",
        "--keep-old-files",
        "--directory=",
        "--file=",
        "--list",
        "--extract",
        "--create",
    ),
    *(
        "--transform=",
        "--exclude-vcs",
        "--sort=",
        "--owner=",
        "--group=",
        "--numeric-owner",
        "--mtime=",
        "--version",
        "--help",
    ),
)
_RSYNC: Final = names(
    "--delete --exclude= --include= --dry-run --checksum --progress --stats --verbose --archive --recursive"
    " --update --quiet"
    " --human-readable --itemize-changes --delete-excluded --existing --ignore-existing --prune-empty-dirs"
    " --partial --links"
)


def archiving(call: Call) -> Finding | None:
    """Return the finding on `tar`, `zip` and `unzip`; None if an option is not known."""
    match call.name:
        case "tar" | "gtar" | "bsdtar":
            return _tar(call)
        case "zip" if any(text.startswith(("-TT", "--unzip-command")) for text in call.texts):
            return call.doubt("names the program by which it tests")
        case "zip":
            operands = split_options(
                call.rest, "rqvju9810myTXD", "xi", ("--exclude=", "--recurse-paths", "--quiet")
            )
            return _made(call, operands)
        case _:
            operands = split_options(call.rest, "oqnjlvptCLaZ1", "dxP", ("--help",))
            if not operands:
                return None
            if any(text in {"-l", "-t", "-v", "-p", "-Z1", "-Z"} for text in call.texts):
                return strictest(read_word(call, field) for field in operands)
            folders = [call.rest[at + 1] for at, text in enumerate(call.texts[:-1]) if text == "-d"] or [
                Field(".")
            ]
            return strictest(
                [read_word(call, operands[0]), written(call, [_within(each) for each in folders])]
            )


def copying(call: Call) -> Finding | None:
    """Return the finding on `rsync` on this machine; None if an option is not known."""
    operands = split_options(call.rest, "avrzunhPptgolcqiHxWL", "", _RSYNC)
    if not operands or len(operands) < 2:  # noqa: PLR2004 (from and to)
        return None
    return strictest(
        [written(call, [_within(operands[-1])]), *(read_word(call, each) for each in operands[:-1])]
    )


def _tar(call: Call) -> Finding | None:
    rest = list(call.rest)
    if rest and not rest[0].text.startswith("-"):
        rest[0] = Field(f"-{rest[0].text}")
    if not rest or not _TAR.fullmatch(rest[0].text):
        mode = next((text[2] for text in call.texts if text in {"--list", "--extract", "--create"}), "")
        letters = {"l": "t", "e": "x", "c": "c"}.get(mode, "")
    else:
        letters = rest[0].text
    operands = split_options(rest, "xctruzjJavkmphO", "fCT", _TAR_WORDS)
    if (
        operands is None
        or not letters
        or any(text.startswith(("-T", "--to-command", "--use-compress")) for text in call.texts)
    ):
        return None
    values = [
        (text, rest[at + 1])
        for at, text in enumerate(call.texts[:-1])
        if re.fullmatch(r"-?[a-zA-Z]*f|-C|--directory|--file", text)
    ]
    folders = [value for text, value in values if text in {"-C", "--directory"}]
    folders += [Field(text.partition("=")[2]) for text in call.texts if text.startswith("--directory=")]
    files = [value for text, value in values if text not in {"-C", "--directory"}]
    if "t" in letters:
        return strictest([call.allow("only lists"), *(read_word(call, each) for each in files)])
    if "x" in letters:
        return strictest(
            [
                *(read_word(call, each) for each in files),
                written(call, [_within(each) for each in folders or [Field(".")]]),
            ]
        )
    outputs = [each for each in files if each.text != "-"]
    return strictest([written(call, outputs), *(read_word(call, each) for each in [*operands, *folders])])


def _made(call: Call, operands: list[Field] | None) -> Finding | None:
    if not operands:
        return None
    return strictest([written(call, operands[:1]), *(read_word(call, each) for each in operands[1:])])


def _within(folder: Field) -> Field:
    """Return a path within a folder, for writing into a folder that need not itself be writable."""
    return Field(f"{folder.text}/unpacked", tilde=folder.tilde)
