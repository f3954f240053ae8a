"""`scripts/docs reference`: writes what is made from the code. With `--check` it only looks whether that is fresh."""

from __future__ import annotations

import sys

from scripts.reference.pages import stale, write


def main() -> int:
    """Write, or look; say which files that concerns."""
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.stderr.write("usage: scripts/docs reference [--check]\n")
        return 2
    files = stale() if check else write()
    for path in files:
        sys.stdout.write(f"{'stale' if check else 'wrote'} {path}\n")
    return 1 if check and files else 0


if __name__ == "__main__":
    sys.exit(main())
