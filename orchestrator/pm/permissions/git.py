"""git: what stays within the run's own tree and branch. Refs are shared by all worktrees, and so are settings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.call import Call
from orchestrator.pm.permissions.fields import ANYTHING, Field
from orchestrator.pm.permissions.files import read_word, written
from orchestrator.pm.permissions.finding import Finding, strictest
from orchestrator.pm.permissions.matching import wild
from orchestrator.pm.permissions.options import has_option, may_be_option
from orchestrator.pm.permissions.paths import granted, protected

_FREE: Final = names(
    "--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --glob-pathspecs --icase-pathspecs"
)
_SETTINGS: Final = (
    *(
        "user.*",
        "color.*",
        "advice.*",
        "core.quotepath",
        "commit.gpgsign",
        "tag.gpgsign",
        "init.defaultbranch",
    ),
    *(
        "core.autocrlf",
        "core.safecrlf",
        "core.filemode",
        "diff.renames",
        "diff.noprefix",
        "diff.mnemonicprefix",
        "log.*",
    ),
    *(
        "merge.conflictstyle",
        "pull.rebase",
        "rerere.enabled",
        "core.abbrev",
        "safe.directory",
        "column.*",
        "gc.auto",
    ),
)
"""What `git -c` may set: nothing of it names a program."""

_VERBS: Final = names(
    "status diff log show add commit stash branch switch checkout restore rev-parse ls-files ls-tree blame grep mv rm"
    " cat-file describe shortlog tag merge-base rev-list name-rev diff-tree diff-index diff-files show-ref for-each-ref"
    " count-objects check-ignore check-attr whatchanged version help merge cherry-pick revert rebase reset clean"
    " apply am"
    " format-patch init range-diff cherry annotate symbolic-ref verify-commit var stripspace patch-id hash-object"
    " write-tree show-branch fsck bisect archive update-index read-tree notes"
)
_LOOKS: Final = {
    "worktree": frozenset({"list"}),
    "remote": frozenset({"-v", "--verbose", "get-url", ""}),
    "config": frozenset({"--get", "--get-all", "--get-regexp", "--list", "-l", "list", "get"}),
    "reflog": frozenset({"", "show"}),
    "submodule": frozenset({"", "status"}),
    "lfs": frozenset({"ls-files", "status", "env", "version"}),
}
_NEVER: Final = (
    *("--output", "--ext-diff", "--textconv", "--open-files-in-pager", "--contents", "--filters"),
    *(
        "--pathspec-from-file",
        "--edit-description",
        "--template",
        "--separate-git-dir",
        "--upload-pack",
        "--gpg-sign",
        "--remote",
    ),
)
_OF_OTHERS: Final = {
    "apply": ("--directory", "--unsafe-paths"),
    "branch": (
        *("-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u"),
        *("--delete", "--move", "--copy", "--force", "--set-upstream-to"),
    ),
    "tag": (*("-d", "-f", "-s", "-u"), *("--delete", "--force")),
    "checkout": ("-B",),
    "switch": (*("-C",), "--force-create"),
    "rebase": (*("-i", "-S"), *("--interactive", "--edit-todo")),
    "add": (*("-i", "-e"), *("--interactive", "--edit")),
    "symbolic-ref": (*("-d", "-m"), "--delete"),
    **dict.fromkeys(("commit", "merge", "cherry-pick", "revert", "am"), ("-S",)),
    "grep": ("-O",),
    "hash-object": ("-w",),
    "init": ("-b",),
    "update-index": ("--index-info", "--index-version"),
}
"""Options with which a command may change refs of others, or wait for an editor."""

_DISCARDS: Final = {"reset": ("--hard", "--merge", "--keep"), "clean": ("-f", "--force")}
_TEXTS: Final = frozenset(
    {
        "-m",
        "--message",
        "--grep",
        "--author",
        "--trailer",
        "-S",
        "-G",
        "--format",
        "--pretty",
        "--date",
        "--since",
        "--until",
    }
)
_LOOKING: Final = names(
    "status diff log show rev-parse ls-files ls-tree blame grep cat-file describe shortlog merge-base rev-list name-rev"
    " diff-tree diff-index diff-files show-ref for-each-ref count-objects check-ignore check-attr whatchanged"
    " version help"
    " range-diff cherry verify-commit var patch-id show-branch remote config reflog worktree submodule"
)
"""They change nothing, wherever they run."""

_NAMES_FILES: Final = frozenset({"add", "restore", "ls-files", "check-ignore", "blame", "stage"})
_STASH: Final = names(
    "push save list show pop apply branch create -u -q -k -m -p --include-untracked --keep-index --quiet"
    " --staged --all -a"
)
_BISECT: Final = names("start good bad new old skip reset log terms run")


def judged_git(call: Call) -> Finding | None:
    """Return the default finding on a git command; None if there is no default for it."""
    fields = call.fields
    at = 1
    while at < len(fields) and fields[at].text.startswith("-"):
        option, value = fields[at].text, fields[at + 1] if at + 1 < len(fields) else None
        if option in _FREE:
            at += 1
        elif option == "-C" and value is not None and value.known and not value.tilde:
            call = replace(call, scope=call.scope.moved(call.paths(value.text)))
            at += 2
        elif option in {"--version", "--help"} and at == len(fields) - 1:
            return call.allow("only prints information")
        elif value is not None and value.known and _harmless(option, value):
            at += 2
        else:
            return call.doubt("has an option without a default")
    rest = fields[at:]
    if not rest or not rest[0].certain or rest[0].glob:
        return call.doubt("runs a git command that is not certain")
    verb, following = rest[0].text, rest[1].text if len(rest) > 1 else ""
    if verb not in _LOOKING and not call.at_home() and verb != "init":
        return call.doubt("works in a repository outside of the run's folders")
    if verb == "config" and len(rest) == 2 and re.fullmatch(r"[A-Za-z0-9_.-]+", following):  # noqa: PLR2004 (verb and name)
        return call.allow("only prints information")
    if verb not in _VERBS and following not in _LOOKS.get(verb, frozenset()):
        return None
    if verb == "remote" and following.startswith("-") and len(rest) > 2:  # noqa: PLR2004 (verb and option)
        return None
    return _judged(call, verb, rest)


def _judged(call: Call, verb: str, rest: Sequence[Field]) -> Finding | None:
    """Return the default finding on a command of git that is known."""
    unknown = "" if verb in _NAMES_FILES else _unknown_option(rest)
    if unknown:
        return call.doubt(f"is given {unknown}")
    if verb in {"mv", "checkout", "restore", "apply", "rm"} and any(
        protected(f"/{field.text}") for field in rest[1:]
    ):
        return call.doubt("may change what controls git or the agent's own program")
    if has_option(rest, () if verb == "rebase" else ("--exec",)) or _runs_unseen(verb, rest):
        return call.doubt("may run something")
    never = [
        option for option in _NEVER if not (option == "--output" and verb in {"archive", "format-patch"})
    ]
    if has_option(rest, never) or has_option(rest, _OF_OTHERS.get(verb, ())):
        return call.doubt("has an option that may run something, or change what is not the run's")
    if has_option(rest, _DISCARDS.get(verb, ())) and not call.case.workplace.own_tree:
        return call.doubt("discards work in a tree that is not the run's own")
    words = [field.text for field in rest[1:]]
    match verb:
        case "stash" if words and words[0] not in _STASH:
            return call.doubt("may discard what others have stashed")
        case "bisect" if not words or words[0] not in _BISECT:
            return call.doubt("may run something at each step")
        case "notes" | "symbolic-ref" if [word for word in words if not word.startswith("-")][1:]:
            return call.doubt("changes refs that all worktrees share")
        case "rebase" if (
            len([word for word in words if not word.startswith("-")]) > 1 and "--onto" not in words
        ):
            return call.doubt("rewrites a branch by its name")
        case "clean" if any(
            word.startswith("-") and "i" in word for word in words if not word.startswith("--")
        ):
            return call.doubt("waits for an answer at a terminal")
        case "init" | "format-patch" | "archive":
            return strictest([call.allow("stays within the run's folders"), *_made(call, verb, rest)])
        case _:
            pass
    return strictest(
        [
            call.allow("stays within the repository"),
            *(read_word(call, field) for field in _paths(rest) if field.known),
        ]
    )


def _runs_unseen(verb: str, rest: Sequence[Field]) -> bool:
    """Return whether a rebase may run something that is not given as an option and its value [wrappers.py]."""
    spelled = {"-x", "--exec"}
    return verb == "rebase" and any(
        may_be_option(field.text, option)
        and field.text not in spelled
        and not field.text.startswith("--exec=")
        for field in rest[1:]
        for option in ("-x", "--exec")
    )


def _made(call: Call, verb: str, rest: Sequence[Field]) -> list[Finding]:
    """Return the finding on the files that a command makes anew."""
    words = list(rest[1:])
    if verb == "init":
        folders = [field for field in words if not field.option] or [Field(".")]
        return [_anew(call, field) for field in folders]
    near = [Field(field.text[2:]) for field in words if re.fullmatch(r"-o.+", field.text)]
    near += [Field(field.text.partition("=")[2]) for field in words if field.text.startswith("--output=")]
    outs = [
        words[at + 1] for at, field in enumerate(words[:-1]) if field.text in {"-o", "--output-directory"}
    ]
    return [written(call, outs + near)]


def _anew(call: Call, field: Field) -> Finding:
    """Return the finding on a folder that becomes a repository."""
    paths = list(call.paths(field.text))
    if all(path and granted(call.case, path) for path in paths):
        return call.allow("makes a repository where the run may write")
    return call.doubt("makes a repository where the run may not write")


def _unknown_option(rest: Sequence[Field]) -> str:
    """Return what an unknown word may be; empty if each is text, or comes after `--`."""
    text = False
    for field in rest[1:]:
        if field.text == "--":
            return ""
        if ANYTHING in field.text and not text and not _is_text(field):
            return "something that is not known"
        if field.many and ANYTHING in field.text:
            return "something that is not known"
        text = field.text in _TEXTS or (
            rest[0].text == "commit" and re.fullmatch(r"-[a-z]*m", field.text) is not None
        )
    return ""


def _is_text(field: Field) -> bool:
    """Return whether the unknown part of a word is the value of an option that only takes text."""
    name, equals, _ = field.text.partition("=")
    return bool(equals) and ANYTHING not in name and name in _TEXTS


def _harmless(option: str, value: Field) -> bool:
    name = value.text.partition("=")[0].casefold()
    if option == "-c" and name in {"core.pager", "pager.log", "pager.diff", "core.editor", "sequence.editor"}:
        return value.text.partition("=")[2] in {"", "cat", "true", ":"}
    if option == "-c" and name == "core.hookspath":
        return value.text.partition("=")[2] == "/dev/null"
    return option == "-c" and any(wild(pattern, name) for pattern in _SETTINGS)


def _paths(rest: Sequence[Field]) -> list[Field]:
    """Return the words that may name files, without those that are text for people."""
    found, text = list[Field](), False
    for field in rest[1:]:
        if (
            not text
            and field.known
            and field.text.startswith(("-F", "-t"))
            and not field.text.startswith("--")
        ):
            found.append(Field(field.text[2:]))
        elif not text and field.known and (not field.text.startswith("-") or field.text.startswith("--file")):
            found.append(field)
        text = field.text in _TEXTS or (
            rest[0].text == "commit" and re.fullmatch(r"-[a-z]*m", field.text) is not None
        )
    return (
        found
        if rest[0].text not in {"add", "grep", "rm", "mv", "check-ignore", "stash", "branch", "tag"}
        else []
    )
