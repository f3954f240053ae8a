"""Random lines of shell: pieces of the language put together by its grammar, and then broken here and there.

`evil` and `git push` stand for what is denied; each place of the grammar is tried for hiding them.
"""

from __future__ import annotations

from random import Random
from typing import Final

SIMPLE: Final = [
    *(
        "ls",
        "ls a",
        "cat a.txt",
        "true",
        "false",
        "evil",
        "git push",
        "git status",
        "echo evil",
        "echo 'evil'",
        'echo "evil"',
    ),
    *(
        "echo \\; evil",
        "echo a#b; evil",
        "echo #evil",
        "# evil",
        "ls\\\n evil",
        "ls a\\\nevil",
        "ev\\\nil",
        "ev''il",
        'e"vi"l',
        "\\evil",
    ),
    *(
        "x=evil",
        "x=1",
        "x=$(evil)",
        "x=(a b)",
        "x+=evil",
        "export x=evil",
        "declare x=evil",
        "local y",
        "unset x",
        "$x",
        '"$x"',
        "$x a",
    ),
    *(
        "echo $x",
        "ls ${x:-evil}",
        "ls ${x:-$(evil)}",
        "ls ${x#*'}'}",
        "ls ${x/a/b}",
        "${x:-evil}",
        "${x:=evil}; $x",
        "ls ${!x}",
    ),
    *(
        "echo $(evil)",
        "echo `evil`",
        'echo "`evil`"',
        "echo ` evil`",
        'echo "$(evil)"',
        "echo $((1+1))",
        "echo $((x+1))",
        "ls <(evil)",
    ),
    *(
        "[ a = b ]",
        "[[ a == b ]]",
        "[[ a && evil ]]",
        "[[ a || evil ]]",
        "[[ -f a && -f b ]]",
        "[[ $x =~ ^(a|evil)$ ]]",
        "((x=1))",
        "((evil))",
        "((x++))",
    ),
    *(
        "echo $'evil\\''",
        "echo {evil,a}",
        "{evil,a}",
        "f() { evil; }",
        "f() { ls; }; f",
        "f",
        "function f { evil; }",
        "f() { $1; }; f evil",
    ),
    *(
        "ls > out",
        "ls 2>&1",
        "ls &> out",
        "ls < a.txt",
        "cat <<< evil",
        'cat <<< "$(evil)"',
        "sh <<< evil",
        "echo evil | sh",
        "echo ls | sh",
    ),
    *(
        "! ls",
        "time ls",
        "coproc ls",
        "{ ls; }",
        "( ls )",
        "a=b ls",
        "=ls",
        "ls *",
        "ls [a]",
        "ev?l",
        "ev[i]l",
        "/*/evil",
        "set -e",
        "shift",
    ),
    *(
        "eval evil",
        "eval ls",
        "eval 'ev''il'",
        "eval $x",
        "command ls",
        "command evil",
        "builtin echo",
        "exec ls",
        "exec evil",
        "env ls",
        "env evil",
    ),
    *(
        "env x=evil ls",
        "nohup ls",
        "timeout 5 ls",
        "timeout 5 evil",
        "xargs ls",
        "echo evil | xargs",
        "echo a | xargs evil",
        "xargs -I{} sh -c {}",
    ),
    *(
        "find . -name a",
        "find . -exec evil ;",
        "find . -exec ls {} \\;",
        "find . -exec sh -c 'evil' \\;",
        "ls | xargs -n1 cat",
        "sh -c 'ls'",
    ),
    *(
        "sh -c evil",
        "sh -c 'ls; evil'",
        "bash -c '$0' evil",
        'sh -c "$x"',
        "bash -lc 'ls | cat'",
        "trap evil EXIT",
        "trap ls EXIT",
        "trap 'x=1' EXIT",
    ),
    *(
        "cd sub",
        "cd sub && ls",
        "cd ..",
        "pushd sub",
        "popd",
        "read x < a.txt",
        "read x <<< evil; $x",
        "alias ls=evil",
        "hash -r",
    ),
    *(
        "for i in evil; do $i; done",
        "for i in a b; do echo $i; done",
        "for i; do evil; done",
        "while false; do evil; done",
        "until true; do evil; done",
    ),
    *(
        "case x in x) evil;; esac",
        "case x in (a|b) ls;; *) ls;; esac",
        "if true; then evil; else ls; fi",
        "if ls; then :; elif evil; then :; fi",
    ),
    *(
        "for ((i=0;i<1;i++)); do evil; done",
        "select x in a; do break; done",
        "printf '%s' evil",
        "printf -v x evil; $x",
        "test -f a",
        "sleep 0",
    ),
    *(
        "while read l; do $l; done <<< evil",
        "while read l; do echo $l; done < a.txt",
        "x=ls; $x",
        "x=ls; x=evil; $x",
        "x=evil true; $x",
        "IFS=x; y=exvil; $y",
    ),
    *(
        "sed -n p a.txt",
        "sed -n '1e evil' a.txt",
        "awk '{print $1}' a.txt",
        "awk 'BEGIN{system(\"evil\")}'",
        "cat a.txt | while read a; do ls; done",
    ),
    *(
        "x=$(echo evil); $x",
        "x=$(cat <<'E'\nevil\nE\n); $x",
        "$(echo evil)",
        "$(echo ls)",
        "`echo evil`",
        "y=x; x=evil; ${!y}",
        "set -- evil; $1",
        "$@",
    ),
]
HERE: Final = [
    *(
        "cat <<EOF\n{}\nEOF\n",
        "cat <<'EOF'\n{}\nEOF\n",
        "cat <<-EOF\n\t{}\n\tEOF\n",
        "cat <<\\EOF\n{}\nEOF\n",
        "cat <<'EOF' > out\n{}\nEOF\n",
    ),
    *(
        "cat <<EOF | cat\n{}\nEOF\n",
        "cat <<EOF; ls\n{}\nEOF\n",
        "cat > out <<'EOF' && ls\n{}\nEOF\n",
        "cat <<EOF <<B\n{}\nEOF\nb\nB\n",
    ),
    *(
        "echo \"$(cat <<'EOF'\n{}\nEOF\n)\"\n",
        'cat <<"E OF"\n{}\nE OF\n',
        "cat <<E''OF\n{}\nEOF\n",
        "cat <<EOF\n{}\n EOF\nEOF\n",
    ),
    *(
        "{{ cat <<EOF\n{}\nEOF\n}}\n",
        "if true; then cat <<EOF\n{}\nEOF\nfi\n",
        "cat <<EOF && cat <<B\n{}\nEOF\ny\nB\nevil\n",
        "sh <<'EOF'\n{}\nEOF\n",
    ),
    *(
        "bash <<EOF\n{}\nEOF\n",
        "cat <<EOF\nfoo\\\nEOF\n{}\nEOF\n",
        "sh -s <<'EOF'\n{}\nEOF\n",
        "while read l; do echo $l; done <<EOF\n{}\nEOF\n",
    ),
]
AROUND: Final = [
    *(
        "({})",
        "{{ {}; }}",
        "echo $({})",
        'echo "a $({}) b"',
        "echo `{}`",
        "for i in a b; do {}; done",
        "if {}; then ls; fi",
        "if ls; then {}; fi",
    ),
    *(
        "while false; do {}; done",
        "case a in a) {};; esac",
        "! {}",
        "{} &",
        "f() {{ {}; }}",
        "f() {{ {}; }}; f",
        "x=$({})",
        "ls <({})",
        "{} | cat",
    ),
    *(
        "cat | {}",
        "env {}",
        "timeout 5 {}",
        "command {}",
        "nohup {}",
        "eval {}",
        "xargs {}",
        "sh -c '{}'",
        'bash -c "{}"',
        "trap '{}' EXIT",
        "{} > out",
    ),
    *(
        "{} 2>&1",
        '[ -n "$({})" ]',
        "[[ -n $({}) ]]",
        "echo ${{x:-$({})}}",
        "x={} ls",
        'cat <<< "$({})"',
        "time {}",
        "exec {}",
        "function f {{ {}; }}",
    ),
]
JOINTS: Final = [
    "; ",
    " && ",
    " || ",
    " | ",
    "\n",
    " & ",
    ";",
    "&&",
    "|",
    "\n\n",
    " ; ",
    " |& ",
    "\n# c\n",
    " \\\n && ",
]
BROKEN: Final = [
    *"'\"\\$`(){}[];|&<>#=~*?! \n\tx",
    *(
        "$(",
        "\\\n",
        "<<",
        "EOF\n",
        "evil",
        " evil",
        "\nevil",
        "${",
        "}",
        "$'",
        "<(",
        "&>",
        ">|",
        ";;",
        "[[",
        "]]",
        "((",
        "))",
        "in",
        "do",
        "\r",
        "\u00a0",
    ),
]


def random_line(random: Random, depth: int = 0) -> str:
    """Return a line; most are whole, some are broken."""
    text = _line(random, depth)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        at = random.randint(0, len(text))
        if random.random() < 0.3 and text:
            text = text[:at] + text[at + 1 :]
        else:
            text = text[:at] + random.choice(BROKEN) + text[at:]
    return text


def _line(random: Random, depth: int) -> str:
    kind = random.random()
    if depth < 3 and kind < 0.3:
        return random.choice(AROUND).format(_line(random, depth + 1))
    if depth < 3 and kind < 0.4:
        return random.choice(HERE).format(_line(random, depth + 1))
    if depth < 3 and kind < 0.7:
        return _line(random, depth + 1) + random.choice(JOINTS) + _line(random, depth + 1)
    return random.choice(SIMPLE)
