"""A project in git with a task's branch, as a daemon leaves it: for verbs that look at what a task has made."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ID = "tidy-0a1b2c3d"


@dataclass
class Shop:
    """The project of a house, in git. `main` has one commit, from which the task began."""

    house: Any
    base: str = ""

    @property
    def project(self) -> Path:
        path: Path = self.house.project
        return path

    @property
    def home(self) -> Path:
        path: Path = self.house.state / "tasks" / ID
        return path

    def git(self, *words: str, cwd: Path | None = None, index: Path | None = None) -> str:
        """Run git as the user would, and return what it printed."""
        done = subprocess.run(
            ["git", *words],
            cwd=cwd or self.project,
            env=os.environ | ({"GIT_INDEX_FILE": str(index)} if index else {}),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def commit(self, name: str = "notes.txt", text: str = "by the user\n", message: str = "By hand") -> str:
        """Commit a file on what is checked out, and return the commit."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        self.git("add", "--", name)
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def work(self, name: str = "greet.py", text: str = "NAME = 'greet'\n", branch: str = "task/tidy") -> str:
        """Let a task bring a file onto its branch, in one commit, and return that; nothing here is touched."""
        tip = self.at(branch) or self.base
        blob = self._object("hash-object", "-w", "--stdin", text=text)
        index = self.project / ".git" / "index.work"
        self.git("read-tree", tip, index=index)
        self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", index=index)
        tree = self.git("write-tree", index=index)
        index.unlink()
        made = self.git("commit-tree", tree, "-p", tip, "-m", f"tidy: {name}")
        self.git("update-ref", f"refs/heads/{branch}", made)
        return made

    def at(self, branch: str = "main") -> str:
        """Return the commit of a branch; empty if there is none."""
        done = subprocess.run(
            ["git", "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}"],
            cwd=self.project,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout.strip()

    def refs(self) -> dict[str, str]:
        """Return every ref."""
        lines = self.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        return dict(line.split(" ") for line in lines)

    def state_json(self, **other: Any) -> Path:
        """Let the daemon tell of the task: complete, unless said otherwise."""
        home: Path = self.house.task(
            ID,
            **{
                "state": "complete",
                "base": self.base,
                "steps": [self.house.step(), self.house.step("dev:one", agent="dev", subtask="one")],
                "agents": [],
                **other,
            },
        )
        return home

    def journal(self, *facts: dict[str, Any]) -> None:
        """Let the journal tell these facts."""
        folder = self.home / "journal"
        folder.mkdir(exist_ok=True)
        lines = [json.dumps({"n": n, "fact": fact, "changes": []}) for n, fact in enumerate(facts, 1)]
        (folder / "000000000001.jsonl").write_text("".join(f"{line}\n" for line in lines))

    def _object(self, *words: str, text: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.project, input=text, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()
