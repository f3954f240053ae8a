"""Draws docs/images/demo.svg from a real run of the demo, or says whether it is still what the demo shows."""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path
from typing import Final

from tests.recording.demo import COLUMNS, recorded
from tests.recording.terminal import drawn, words

PICTURE: Final = Path(__file__).parents[2] / "docs" / "images" / "demo.svg"


def main() -> int:
    """Run the demo; write the picture, or compare it with what is there."""
    parser = argparse.ArgumentParser(prog="scripts/record-demo", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where the picture is out of date"
    )
    check = parser.parse_args().check
    picture = drawn(recorded(), COLUMNS, "agent-orchestrator: scripts/demo")
    if not check:
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(picture, encoding="utf-8")
        print(f"drawn: {PICTURE}")
        return 0
    before, now = words(PICTURE.read_text(encoding="utf-8")).split(), words(picture).split()
    if before == now:
        return 0
    changes = difflib.unified_diff(before, now, "the picture", "the demo", lineterm="", n=5)
    print("\n".join(changes), "\n\nscripts/record-demo draws it anew", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
