"""Programs of which something is known."""

from __future__ import annotations

from typing import Final

from orchestrator.formats.text import names
from orchestrator.pm.permissions.defaults.development_tools import RUNNERS, SUBCOMMANDS
from orchestrator.pm.permissions.defaults.shell_tools import PLAIN, READERS, WRITERS

_OWN_WORDS: Final = names(
    "cd chdir pushd popd dirs export declare typeset local readonly read mapfile readarray set shopt unset hash"
    " let trap source ."
    " eval exec command builtin alias unalias env xargs timeout nohup nice time stdbuf sudo su doas kill sh bash"
    " dash zsh"
)
KNOWN: Final = (
    _OWN_WORDS
    | PLAIN
    | frozenset(READERS)
    | frozenset(WRITERS)
    | RUNNERS
    | frozenset(SUBCOMMANDS)
    | {"git", "sed", "awk", "curl"}
)
"""Programs of which something is known here: a function by such a name is not what it seems."""
