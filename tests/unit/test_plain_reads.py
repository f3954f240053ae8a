"""No file that others may have put there is opened plainly: a pipe would block that, a file of holes fill the memory.

Such files are read by `own_files.own_file`, the port `Files` or `orchestrator.plain_files`, and written by `DiskFiles`.
"""

import ast
from pathlib import Path

import pytest

import orchestrator

ROOT = Path(orchestrator.__file__).parent

OURS = ("__file__", "package_files(", "shipped(", "/proc/", "/sys/", "os.devnull")
"""What an expression names that nobody but us, or the kernel, fills."""

SAFE = ("os.O_NONBLOCK", "os.O_DIRECTORY", "os.O_EXCL", "_SUSPICIOUS")
"""With one of these nothing is waited for."""

ELSEWHERE = {
    "demo.py": 1,  # in a folder that it made
    "testing": None,  # no part of what is run
    "cli/agent_setup.py": 5,  # what ships
    "cli/caller.py": 1,  # /proc
    "cli/lock_holder.py": 1,  # /proc/locks
    "cli/machine_probe.py": 1,  # /proc/sys
    "cli/serving/page.py": 2,  # what ships
    "daemon/process/upgrade.py": 1,  # the program itself
    "hosts/process_limit.py": 2,  # /proc, and control groups
    "hosts/run_processes.py": 1,  # a control group
    "hosts/ssh/rehearsal.py": 2,  # in a folder that it made
    "hosts/tmux.py": 1,  # settings that ship
    "workspaces/fetching.py": 2,  # in a repository that it made
    "notifications/senders": None,
    "reporting/html.py": 1,  # what ships
    "runtimes/screens.py": 1,  # rules that ship
    "runtimes/gemini.py": 3,  # what ships
    "formats/prices.py": 1,  # prices that ship
}
"""Where plain calls are right, and how many: a further one must be looked at."""


def plain_calls(tree: ast.AST) -> list[int]:
    """Return the lines of calls that read or write a file by its name and might wait for somebody."""
    named = {
        target.id: ast.unparse(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    return sorted(
        node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_plain(node, named)
    )


def _is_plain(call: ast.Call, named: dict[str, str]) -> bool:
    said = ast.unparse(call)
    if any(word in said for word in OURS):
        return False
    match call.func:
        case ast.Name("open"):
            # A descriptor that was opened with care, or is at hand.
            return not any(word in said for word in ("plain_files.opened(", "os.open(", "descriptor"))
        case ast.Attribute(ast.Name("os"), "open"):
            flags = ast.unparse(call.args[1])
            return not any(word in f"{flags} {named.get(flags, '')}" for word in SAFE)
        case ast.Attribute(attr="read_text" | "read_bytes" | "write_text" | "write_bytes"):
            return True
        case ast.Attribute(ast.Name("gzip" | "tarfile"), "open"):
            return not any(word in said for word in ("fileobj=", "(packed)", "BytesIO("))
        case ast.Attribute(attr="open"):
            modes = [each.value for each in call.args[:1] if isinstance(each, ast.Constant)]
            return modes != ["xb"] and (bool(modes) or bool(call.keywords))
        case _:
            return False


def test_nothing_opens_a_file_of_others_plainly():
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if ELSEWHERE.get(name.split("/")[0], 0) is None:
            continue
        lines = plain_calls(ast.parse(file.read_text()))
        if len(lines) != ELSEWHERE.get(name, 0):
            found[name] = lines
    assert found == {}


@pytest.mark.parametrize(
    "text",
    [
        "path.read_text()",
        "(folder / name).read_bytes()",
        "path.write_text(text)",
        "path.open('rb')",
        "gzip.open(path)",
        "open(path)",
        "os.open(path, os.O_RDONLY | os.O_NOFOLLOW)",
        "F = os.O_WRONLY | os.O_APPEND\nos.open(path, F)",
    ],
)
def test_a_plain_call_would_be_found(text):
    assert plain_calls(ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "(Path(__file__).parent / name).read_bytes()",
        "Path(f'/proc/{pid}/stat').read_bytes()",
        "open(plain_files.opened(path), 'rb')",
        "F = os.O_RDONLY | os.O_NONBLOCK\nos.open(path, F)",
        "own_files.own_file(path)",
    ],
)
def test_one_that_waits_for_nobody_is_none(text):
    assert plain_calls(ast.parse(text)) == []
