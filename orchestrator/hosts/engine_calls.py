"""Calls of an engine's command-line programs, such as `podman` or `squeue`: bounded, and told in a line."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Final

from orchestrator.model.errors import Unavailable

DEADLINE: Final = 10.0
"""Seconds that a call of an engine may take: it takes 0.02 to 0.4 (measured)."""

_SHOWN: Final = 300


def call_engine(
    words: Sequence[str], variables: Mapping[str, str], deadline: float = DEADLINE, said: bytes = b""
) -> tuple[int, str, str]:
    """Call a program, and return its exit status, and what it says on standard output and standard error.

    It reads `said` on its standard input.

    Raises:
        Unavailable: it is not installed, or does not answer in time.

    """
    try:
        done = subprocess.run(
            list(words),
            env=variables,
            input=said,
            capture_output=True,
            timeout=deadline,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"`{' '.join(words[:2])}` gave no answer in {deadline:g} s") from error
    except OSError as error:
        raise Unavailable(f"{words[0]} cannot be run: {error.strerror}") from error
    return done.returncode, done.stdout.decode(errors="replace"), last_line(done.stderr)


def last_line(said: bytes) -> str:
    """Return the last line of an error: what stands above are warnings."""
    lines = said.decode(errors="replace").strip().splitlines() or ["it gave no reason"]
    return "".join(sign if sign.isprintable() else "?" for sign in lines[-1])[:_SHOWN]
