"""All git goes through one door: nothing else in the program starts it."""

import ast
from pathlib import Path

import orchestrator

ROOT = Path(orchestrator.__file__).parent
DOOR = "workspaces/git_process.py"
ELSEWHERE = {
    "demo.py",  # makes a repository of its own, in a folder that it made
    "testing",  # no part of what is run
}


def starts_git(tree: ast.AST) -> list[int]:
    """Return the lines at which a list or a tuple begins with `git`, other than what is shown to be typed."""
    shown = {
        id(word)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "typed"
        for argument in call.args
        for word in ast.walk(argument)
    }
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.List)
        and node.elts
        and isinstance(node.elts[0], ast.Constant)
        and node.elts[0].value == "git"
        and id(node) not in shown
    ]


def test_nothing_but_the_door_starts_git():
    found = {}
    for file in ROOT.rglob("*.py"):
        name = file.relative_to(ROOT).as_posix()
        if (
            name != DOOR
            and name.split("/")[0] not in ELSEWHERE
            and (lines := starts_git(ast.parse(file.read_text())))
        ):
            found[name] = lines
    assert found == {}


def test_the_door_itself_would_be_found():
    assert starts_git(ast.parse((ROOT / DOOR).read_text()))
