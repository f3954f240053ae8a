"""Keys of git's configuration that name a program, and what is said in their stead to a git that is to run none.

Whoever can write to a repository can set them there: an agent, say. What its user sets for all repositories (the
scopes `system` and `global`) is the user's own word and stays: git-lfs, for one, installs itself there.
`tests/unit/formats/test_git_config.py` holds the tables against the list of keys that git itself gives out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from orchestrator.model.errors import Refused

LIST: Final = ("config", "--list", "-z", "--show-scope")
"""The words by which git lists what is set, and where."""

MOST: Final = 500
"""So many settings are overridden at most: they are handed over in the environment, which has its bounds."""

FIXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "core.fsmonitor": "false",
        "core.hooksPath": "/dev/null",
        "log.showSignature": "false",  # it runs a program, and prints what it says among what was asked for
        "protocol.ext.allow": "never",
    }
)
"""Settings that are overridden always, the user's too."""

_TEXT_MERGE: Final = "git merge-file --quiet --marker-size=%L %A %O %B"  # what git does without a driver
_NOTHING: Final = "true"
_FAILS: Final = "false"

PROGRAMS: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("alias", "*"): "",
        ("browser", "cmd"): _FAILS,
        ("browser", "path"): _FAILS,
        ("core", "alternaterefscommand"): _NOTHING,
        ("core", "askpass"): "",
        ("core", "editor"): _FAILS,
        ("core", "gitproxy"): _FAILS,
        ("core", "pager"): "cat",
        ("core", "sshcommand"): "ssh",
        ("core", "virtualfilesystem"): "",
        ("credential", "helper"): "",
        ("diff", "command"): "",
        ("diff", "external"): "",
        ("diff", "textconv"): "",
        ("difftool", "cmd"): _FAILS,
        ("difftool", "path"): _FAILS,
        ("filter", "clean"): "",
        ("filter", "process"): "",
        ("filter", "required"): "false",
        ("filter", "smudge"): "",
        ("gc", "recentobjectshook"): _NOTHING,  # these add up: the door collects no garbage
        ("gitcvs", "dbdriver"): "",
        ("gpg", "defaultkeycommand"): _FAILS,
        ("gpg", "program"): _FAILS,
        ("guitool", "cmd"): _FAILS,
        ("help", "browser"): "",
        ("hook", "command"): _NOTHING,
        ("imap", "tunnel"): _FAILS,
        ("init", "templatedir"): "",  # a folder of hooks
        ("instaweb", "browser"): _FAILS,
        ("instaweb", "httpd"): _FAILS,
        ("instaweb", "modulepath"): "",
        ("interactive", "difffilter"): _FAILS,
        ("lfs", "clean"): "",
        ("lfs", "path"): _FAILS,
        ("lfs", "smudge"): "",
        ("lfs", "standalonetransferagent"): "",
        ("man", "cmd"): _FAILS,
        ("man", "path"): _FAILS,
        ("merge", "driver"): _TEXT_MERGE,
        ("mergetool", "cmd"): _FAILS,
        ("mergetool", "path"): _FAILS,
        ("pager", "*"): "false",
        ("remote", "receivepack"): "git-receive-pack",
        ("remote", "uploadpack"): "git-upload-pack",
        ("remote", "vcs"): "",
        ("sendemail", "cccmd"): _FAILS,
        ("sendemail", "headercmd"): _FAILS,
        ("sendemail", "sendmailcmd"): _FAILS,
        ("sendemail", "smtpserver"): "",
        ("sendemail", "tocmd"): _FAILS,
        ("sequence", "editor"): _FAILS,
        ("submodule", "update"): "none",
        ("tar", "command"): _FAILS,
        ("trailer", "cmd"): _FAILS,
        ("trailer", "command"): _FAILS,
        ("uploadpack", "packobjectshook"): "",
        ("web", "browser"): "",
    }
)
"""By section and name (`*` is any), in lower case: what is said where a repository sets it, whatever is between."""

_OWN: Final = frozenset({"system", "global"})
_NEVER: Final = frozenset({("hook", "command")})  # hooks are not run, the user's own neither
_FILTERS: Final = frozenset({"clean", "smudge", "process"})
_ADDED_UP: Final = frozenset({("credential", "helper")})  # an empty value empties the list
_LEADS_ON: Final = ("include.", "includeif.", "extensions.worktreeconfig")


def named(key: str) -> tuple[str, str] | None:
    """Return how `PROGRAMS` calls a key, or None if it names no program."""
    section, _, rest = key.partition(".")
    section, name = section.lower(), rest.rpartition(".")[2].lower()
    return next((pair for pair in ((section, name), (section, "*")) if pair in PROGRAMS), None)


def overriding(listed: bytes) -> tuple[dict[str, str], bool]:
    """Return the variables by which git runs no program that a repository names, and whether one file told it all.

    Args:
        listed: what git says to `LIST`.

    Raises:
        Refused: there are more than `MOST` of them.

    """
    parts = listed.decode(errors="surrogateescape").split("\0")[:-1]
    own, theirs, whole = dict[str, list[str]](), dict[str, tuple[str, str]](), True
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        pair, mine = named(key), scope in _OWN
        whole = whole and (mine or not key.startswith(_LEADS_ON))
        if pair is not None and mine and pair not in _NEVER:
            own.setdefault(key, []).append(value)
        elif pair is not None:
            theirs[key] = pair
    settings = [setting for key, pair in theirs.items() for setting in _instead(key, pair, own.get(key, []))]
    if len(settings) > MOST:
        raise Refused(f"this repository's configuration of git names {len(settings)} programs: look at it")
    said = {"GIT_CONFIG_COUNT": str(len(settings))} if settings else {}
    for number, (key, value) in enumerate(settings):
        said |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    if ("core", "gitproxy") in theirs.values():
        said["GIT_PROXY_COMMAND"] = ""  # of these the first that is set counts, and not the last
    return said, whole


def filters(listed: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Return the commands of filters by their names: those that a user set for all repositories, and all others.

    Args:
        listed: what git says to `LIST`.

    """
    own, theirs = dict[str, str](), dict[str, str]()
    parts = listed.decode(errors="replace").split("\0")[:-1]
    for scope, entry in zip(parts[::2], parts[1::2], strict=False):
        key, _, value = entry.partition("\n")
        section, _, rest = key.partition(".")
        name, _, what = rest.rpartition(".")
        if section == "filter" and what in _FILTERS and value:
            found = own if scope in _OWN else theirs
            found[name] = value
    return own, theirs


def _instead(key: str, pair: tuple[str, str], own: list[str]) -> list[tuple[str, str]]:
    """Return what is set instead of what a repository says: what its user says, else what runs nothing."""
    if pair in _ADDED_UP:
        return [(key, ""), *((key, value) for value in own)]
    return [(key, own[-1] if own else PROGRAMS[pair])]
