"""The script that makes a worktree ready, run by a real shell: once for each content, and through no link."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from orchestrator.model.task import Config
from orchestrator.runtimes.preparation import SCRIPT, preparing

COUNTING = ("sh", "-c", "echo done >>made; exit 0")


class Tree:
    """A worktree and the folders of runs in it."""

    def __init__(self, root: Path) -> None:
        self.root, self.path, self.runs = root, root / "tree", 0
        self.path.mkdir()

    def prepares(
        self, config: Config, copied: dict[str, bytes] | None = None, caches: list[Path] | None = None
    ) -> subprocess.CompletedProcess[str]:
        self.runs += 1
        folder = self.root / f"run-{self.runs}"
        folder.mkdir()
        launching = preparing(config, copied or {}, folder, caches)
        for name, content in launching.files.items():
            (folder / name).write_bytes(content)
        done = subprocess.run(launching.argv, cwd=self.path, capture_output=True, text=True, check=False)
        assert [each.name for each in folder.iterdir()] == [SCRIPT], "no copy is left beside the log"
        return done

    def made(self) -> int:
        """Return how often the counting command ran."""
        file = self.path / "made"
        return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_commands_run_once_for_the_same_content(tree):
    config = Config(prepare=(COUNTING,), prepare_inputs=("lock",))
    (tree.path / "lock").write_text("1")
    assert [tree.prepares(config).returncode for _ in range(3)] == [0, 0, 0]
    assert tree.made() == 1
    (tree.path / "lock").write_text("2")
    tree.prepares(config)
    tree.prepares(config, {".env": b"A=1"})
    assert "ready, as nothing has changed" in tree.prepares(config, {".env": b"A=1"}).stdout
    assert tree.made() == 3
    tree.prepares(config, {".env": b"A=2"})
    assert (tree.made(), (tree.path / ".env").read_bytes()) == (4, b"A=2")


def test_cleaned_tree_is_made_ready_again(tree):
    """The stamp goes with what the commands have made: git ignores both, and its clean takes both away."""
    subprocess.run(["git", "init", "-q"], cwd=tree.path, check=True)
    config = Config(prepare=(("touch", ".orchestrator-prepared/by-npm"),))
    tree.prepares(config)
    said = subprocess.run(
        ["git", "status", "--porcelain"], cwd=tree.path, capture_output=True, text=True, check=True
    )
    assert said.stdout == ""
    subprocess.run(["git", "clean", "-ffdxq"], cwd=tree.path, check=True)
    tree.prepares(config)
    assert (tree.path / ".orchestrator-prepared/by-npm").exists()


def test_first_command_that_fails_ends_it_and_is_named(tree):
    done = tree.prepares(Config(prepare=(("sh", "-c", "exit 7"), COUNTING)))
    assert done.returncode == 7
    assert done.stdout.splitlines()[-1] == "prepare: `sh -c 'exit 7'` exited 7"
    assert tree.made() == 0
    assert tree.prepares(Config(prepare=(("no-such-program",),))).returncode == 127
    tree.prepares(Config(prepare=(("sh", "-c", "exit 7"), COUNTING)))
    assert tree.made() == 0, "what failed is no content that it is ready for"


def test_words_reach_the_command_byte_for_byte(tree):
    words = ("$(touch hit)", "`touch hit`", "a'b\"c", "-n", "*", "x y")
    tree.prepares(Config(prepare=(("sh", "-c", 'printf "%s\\n" "$@" >words', "sh", *words),)))
    assert (tree.path / "words").read_text().splitlines() == list(words)
    assert not (tree.path / "hit").exists()


@pytest.mark.parametrize("path", [".env", "config/local.toml"])
def test_copy_replaces_a_link_and_follows_none(tree, path):
    outside = tree.root / "outside"
    outside.mkdir()
    victim = outside / "local.toml"
    victim.write_text("mine")
    if "/" in path:
        (tree.path / "config").symlink_to(outside)
    else:
        (tree.path / path).symlink_to(victim)
    done = tree.prepares(Config(prepare_copy=(path,)), {path: b"secret"})
    assert victim.read_text() == "mine"
    assert list(outside.iterdir()) == [victim]
    if "/" in path:
        assert done.returncode == 1
        assert "./config is a link in the worktree" in done.stdout
    else:
        assert (tree.path / path).read_bytes() == b"secret"
        assert (tree.path / path).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["", "content", ".gitignore", "new"])
def test_stamp_is_written_through_no_link(tree, name):
    outside = tree.root / "outside"
    outside.mkdir()
    victim = outside / "content"
    victim.write_text("mine")
    folder = tree.path / ".orchestrator-prepared"
    if name:
        folder.mkdir()
        (folder / name).symlink_to(victim)
    else:
        folder.symlink_to(outside)
    done = tree.prepares(Config(prepare=(COUNTING,)))
    assert victim.read_text() == "mine"
    assert list(outside.iterdir()) == [victim]
    assert (done.returncode, tree.made()) == ((0, 1) if name else (1, 0))


def test_folder_where_a_file_is_copied_is_refused(tree):
    (tree.path / ".env").mkdir()
    done = tree.prepares(Config(prepare_copy=(".env",)), {".env": b"x"})
    assert (done.returncode, list((tree.path / ".env").iterdir())) == (1, [])


def test_a_clone_on_a_box_is_asked_what_git_ignores(tree):
    """Nothing is copied that a commit of an agent could hold; the folders of caches are made there."""
    subprocess.run(["git", "init", "-q", str(tree.path)], check=True)
    caches, copied = [tree.root / "caches" / "NPM"], {".env": b"A=1"}
    refused = tree.prepares(Config(prepare=(COUNTING,)), copied, caches)
    assert refused.returncode == 1
    assert "git does not ignore" in refused.stdout
    assert not (tree.path / ".env").exists()
    (tree.path / ".git/info/exclude").write_text(".env\n")
    assert tree.prepares(Config(prepare=(COUNTING,)), copied, caches).returncode == 0
    assert (tree.path / ".env").read_bytes() == b"A=1"
    assert caches[0].is_dir()
    status = ["git", "-C", str(tree.path), "status", "--porcelain", "--ignored=no"]
    assert (
        ".orchestrator-prepared"
        not in subprocess.run(status, capture_output=True, text=True, check=True).stdout
    )
