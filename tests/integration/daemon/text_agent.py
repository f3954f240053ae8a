"""A program that reads text and writes text: `python -I -S text_agent.py ANSWERS`, an agent of `hands: operations`.

It learns all that it needs from its order, on standard input. ANSWERS is a JSON file with what each of its lives
writes, the last for all that follow; `{root}` stands for the folder that the order names. Each life appends its run to
the file `runs` beside it, and its order to `orders`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path


def main() -> None:
    order, answers = sys.stdin.read(), Path(sys.argv[1])
    with (answers.parent / "runs").open("a+", encoding="utf-8") as file:
        file.write(f"{os.environ['ORCHESTRATOR_RUN']} {os.environ['ORCHESTRATOR_STEP']}\n")
        file.seek(0)
        lives = [line.split()[1] for line in file].count(os.environ["ORCHESTRATOR_STEP"])
    with (answers.parent / "orders").open("a", encoding="utf-8") as file:
        file.write(f"\n==== {order}")
    found = re.search(r"lies below (\S+)/", order)
    texts = json.loads(answers.read_text(encoding="utf-8"))
    sys.stdout.write(texts[min(lives, len(texts)) - 1].replace("{root}", found[1] if found else ""))


main()
