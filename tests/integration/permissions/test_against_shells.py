"""Real shells have the last word: no line that was allowed runs what is denied, however it is put together."""

import random
import shutil
import subprocess

import pytest

from orchestrator.formats.permission_rules import read_permissions
from orchestrator.model.permission import Act, Policy, Ruling, Wish
from orchestrator.pm.permissions import judge

SHELLS = [found for found in map(shutil.which, ("bash", "dash", "zsh")) if found]
GIT = """#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in -C|-c) shift;; -*) ;; push) echo "git $*" >> "$HIT"; break;; *) break;; esac
    shift
done
"""
EVIL = '#!/bin/sh\necho "evil $*" >> "$HIT"\n'
REAL = ("env", "nohup", "timeout", "xargs", "sh", "bash", "find", "sed", "awk", "cat", "ls", "grep")
LINES = [
    "git status && git log",
    "git commit -m 'say git push'",
    "git commit -m \"$(cat <<'EOF'\nevil\nEOF\n)\"",
    "cat > a.txt <<'EOF'\nevil\nEOF\n",
    "echo git push | cat",
    "cd sub && ls; cd sub",
    "bash -c 'ls | cat'",
    "timeout 5 env A=1 ls",
    "sed -n 's/a/b/p' a.txt",
    "awk '{print $1}' a.txt",
    "find . -name 'a*'",
    "(ls; cat a.txt) > b.txt 2>&1",
    "",
]
PIECES = [
    *(
        "git push",
        "git",
        "push",
        "evil",
        "evil x",
        "; evil ",
        "echo",
        "ls",
        "cat",
        "sh -c",
        "bash -c",
        "xargs",
        "eval",
        "command",
    ),
    *(
        "env",
        "A=1",
        "X=evil",
        "$X",
        "nohup",
        "timeout 1",
        "exec",
        "time",
        "!",
        "set -e",
        "export",
        "cd sub",
        "find . ",
        "-exec",
    ),
    *(
        " ",
        "'",
        '"',
        "\\",
        "\\\n",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "$(",
        "(",
        ")",
        "`",
        "{",
        "}",
        "$",
        "${IFS}",
        "$IFS",
        "#",
    ),
    *(
        "<<EOF\n",
        "<<'EOF'\n",
        "EOF\n",
        ">",
        "<",
        "2>&1",
        ">a",
        "<(",
        ">(",
        "<<<",
        "$'",
        "\\x65",
        "?",
        "*",
        "[",
        "]",
        "=",
        "&>",
    ),
    *(
        ">|",
        "\t",
        "\r",
        "\x0b",
        "\u00a0",
        "-",
        "--",
        "-c",
        "{a,git}",
        "git\\\npush",
        "if",
        "then",
        "fi",
        "for i in a;",
        "do",
        "done",
    ),
    *(
        "case",
        "esac",
        "f()",
        "[[",
        "]]",
        "((",
        "))",
        "\"$(cat <<'EOF'\n",
        'EOF\n)"',
        "sed -n",
        "1e evil",
        "awk",
        "system(",
    ),
]
POLICIES = [Policy(), Policy(read_permissions("deny run evil; deny run git push").rules, Ruling.ALLOW)]


@pytest.fixture
def place(tmp_path):
    """Return a folder to run in, beside which there are no programs but a few, and two that tell of being run."""
    programs, work = tmp_path / "programs", tmp_path / "work"
    programs.mkdir()
    (work / "sub").mkdir(parents=True)
    for name, text in (("git", GIT), ("evil", EVIL)):
        (programs / name).write_text(text, encoding="utf-8")
        (programs / name).chmod(0o755)
    for name in REAL:
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    return tmp_path


def line(rng):
    """Return a line that is made of pieces of the shells' language, or one that may be allowed, with some put in."""
    text = rng.choice(LINES)
    for _ in range(rng.randint(1, 4 if text else 9)):
        at = rng.randint(0, len(text)) if text and rng.random() < 0.6 else len(text)
        text = text[:at] + rng.choice(PIECES) + (" " if rng.random() < 0.4 else "") + text[at:]
    return text


def ran(place, shell, text):
    """Return what a shell ran of that which is denied."""
    hit = place / "hit"
    hit.unlink(missing_ok=True)
    subprocess.run(
        [shell, "-c", text],
        env={"PATH": str(place / "programs"), "HIT": str(hit)},
        cwd=place / "work",
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=20,
    )
    return hit.read_text(encoding="utf-8", errors="replace") if hit.exists() else ""


@pytest.mark.parametrize("seed", range(4))
def test_no_shell_runs_what_is_denied_of_a_line_that_was_allowed(place, seed):
    rng = random.Random(seed)
    allowed = 0
    for number in range(3000):
        text, policy = line(rng), POLICIES[number % 2]
        wish = Wish("Bash", Act.RUN, command=text, cwd=str(place / "work"))
        steers = any(word in text for word in ("git", "evil", "x65", "$"))
        if not steers or judge(policy, wish, (str(place / "work"),)).ruling is not Ruling.ALLOW:
            continue
        allowed += 1
        assert [ran(place, shell, text) for shell in SHELLS] == [""] * len(SHELLS), text
    assert allowed > 100


def test_what_is_looked_for_is_found(place):
    for text in (
        "git -C x -c a=b push",
        "X=evil; $X",
        'eval "evil"',
        "echo evil | sh",
        "$'\\x65vil'",
        "{evil,x}",
    ):
        assert any(ran(place, shell, text) for shell in SHELLS), text
