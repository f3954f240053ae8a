"""What holds of any command and any rules."""

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.formats.permission_rules import read_rule
from orchestrator.formats.shell import Doubt, read_script
from orchestrator.model.permission import Act, PermissionDecision, Permissions, Policy
from orchestrator.model.tool_request import ToolRequest
from orchestrator.pm.permissions import judge, policy_for
from orchestrator.pm.permissions.defaults.denied_commands import DENIED as DENIED_BY_DEFAULT
from tests.unit.pm.permissions.permission_checks import WORKPLACE, decision
from tests.unit.pm.permissions.test_commands import ALLOWED, ASKED, DENIED

LINES = [line for text in (ALLOWED, ASKED, DENIED) for line in text.strip("\n").split("\n")]
SIMPLE = [
    line
    for line in ("\n" + ALLOWED + ASKED + DENIED).split("\n")
    if line and not set(line) & set("'\"\\#[]{}")
]
PIECES = [
    *LINES,
    " ",
    "\n",
    ";",
    "&&",
    "|",
    "&",
    "$(",
    ")",
    "(",
    "`",
    "'",
    '"',
    "\\",
    "\\\n",
    "<<EOF\n",
    "EOF",
    "$",
    "${",
    "#",
]
texts = st.text(max_size=60) | st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map(
    "".join
)
rules = st.sampled_from(
    [
        "allow run *",
        "allow run git *",
        "allow run uv *",
        "allow run npm test",
        "allow run env *",
        "allow read",
        "allow write /w/**",
        "allow tool Bash",
        "ask run git commit",
        "deny run npm",
        "deny run git commit",
        "deny run ls",
        "deny run *",
        "deny write **/*.py",
        "deny read /w/tree/src",
        "ask write",
    ]
).map(lambda text: read_rule(text, "task.md"))
policies = st.builds(Policy, st.lists(rules, max_size=4).map(tuple), st.sampled_from(PermissionDecision))
STRICT = {PermissionDecision.ALLOW: 0, PermissionDecision.ASK: 1, PermissionDecision.DENY: 2}

WRAPPED = [
    "{}",
    " \t{}  ",
    "ls && {}",
    "ls; {}",
    "ls\n{}",
    "ls | {}",
    "ls & {}",
    "({})",
    "{{ {}; }}",
    "! {}",
    "X=1 {}",
    "$({})",
    "`{}`",
    'echo "$({})"',
    "sh -c '{}'",
    'bash -lc "{}"',
    "eval {}",
    "env {}",
    "env A=1 {}",
    "nohup {}",
    "timeout 5 {}",
    "timeout --what 5 {}",
    "nice -n 3 {}",
    "time {}",
    "command {}",
    "exec {}",
    "xargs {}",
    "echo x | xargs -I% {}",
    "setsid {}",
    "find . -exec {} ;",
    "if true; then {}; fi",
    "f() {{ {}; }}; f",
    "cat <<EOF\n$({})\nEOF",
    "uv run {}",
    "npx {}",
    "unheard-of --of {}",
    "watch -n 1 '{}'",
    "echo '{}' | sh",
    "bash <<< '{}'",
    "diff <({}) x",
    "coproc {}",
]
SPELLED = [
    lambda word: word,
    lambda word: f"'{word}'",
    lambda word: f'"{word}"',
    lambda word: "\\" + word,
    lambda word: word[0] + "''" + word[1:],
    lambda word: word[0] + '"' + word[1:] + '"',
    lambda word: word[0] + "\\\n" + word[1:],
]


@given(texts, policies, st.sampled_from(["", "/w/tree", "/", "relative", "/w/tree/../.."]))
@example("git push $(", Policy(), "")
def test_judging_never_raises_and_always_says_why(text, policy, cwd):
    for act in Act:
        wish = ToolRequest(text[:20], act, (text, "/" + text), text, inside=True, cwd=cwd)
        found = judge(policy, wish, replace(WORKPLACE, grants=(*WORKPLACE.grants, text)))
        assert found == judge(policy, wish, replace(WORKPLACE, grants=(*WORKPLACE.grants, text)))
        assert found.why
        assert found.why.isprintable() or found.why == found.why.replace("\n", " ")


@given(
    st.sampled_from(WRAPPED),
    st.lists(st.sampled_from(SPELLED), min_size=3, max_size=3),
    st.sampled_from(["/usr/bin/", ""]),
    st.sampled_from(PermissionDecision),
)
def test_denial_by_a_rule_holds_for_every_spelling(wrapped, spelled, folder, otherwise):
    """What a rule denies is never allowed, however it is wrapped and spelled."""
    words = [spell(word) for spell, word in zip(spelled, (folder + "cargo", "clippy", "--fix"), strict=True)]
    quoted = " ".join(words)
    if "'{}'" in wrapped or '"{}"' in wrapped:
        quoted = f"{folder}cargo clippy --fix"
    assert (
        decision(wrapped.format(quoted), "deny run cargo clippy", otherwise) is not PermissionDecision.ALLOW
    )
    assert (
        decision(wrapped.format(quoted), "deny run cargo clippy; allow run uv *; allow run xargs *")
        is not PermissionDecision.ALLOW
    )


@given(
    st.sampled_from(sorted(DENIED_BY_DEFAULT)),
    st.sampled_from(WRAPPED),
    st.sampled_from(SPELLED),
    st.sampled_from(PermissionDecision),
)
def test_denial_by_default_holds_for_every_wrapping(pattern, wrapped, spell, otherwise):
    program, _, rest = pattern.replace("*", ".x").partition(" ")
    rest = rest or "x"  # `mount` alone only tells
    quoted = program if "'{}'" in wrapped or '"{}"' in wrapped else spell(program)
    assert decision(wrapped.format(f"{quoted} {rest}"), otherwise=otherwise) is not PermissionDecision.ALLOW


@given(
    st.sampled_from(LINES) | texts,
    policies,
    st.sampled_from(["npm", "git commit", "ls", "*", "cat * x", "rm -rf"]),
)
def test_a_rule_more_that_denies_allows_nothing_more(text, policy, pattern):
    stricter = Policy((*policy.rules, read_rule(f"deny run {pattern}", "")), policy.otherwise)
    wish = ToolRequest("Bash", Act.RUN, command=text, cwd="/w/tree")
    before, after = judge(policy, wish, WORKPLACE).decision, judge(stricter, wish, WORKPLACE).decision
    assert STRICT[after] >= STRICT[before]


@given(st.sampled_from(SIMPLE), st.data())
def test_quotes_and_spaces_around_words_allow_nothing_more(line, data):
    parts = (
        line.replace(";", " ; ")
        .replace("|", " | ")
        .replace("&", " & ")
        .replace("&  &", "&&")
        .replace("|  |", "||")
        .split()
    )
    spelled = [
        data.draw(st.sampled_from(SPELLED[:6]))(part)
        if part.replace("-", "").replace("/", "").isalnum()
        else part
        for part in parts
    ]
    spaced = data.draw(st.sampled_from([" ", "  ", "\t", " \\\n"])).join(spelled)
    if decision(" ".join(parts)) is not PermissionDecision.ALLOW:
        assert decision(spaced) is not PermissionDecision.ALLOW


@given(texts)
def test_a_line_is_read_or_doubted(text):
    with suppress(Doubt):
        assert read_script(text).chains


@pytest.mark.parametrize("otherwise", PermissionDecision)
def test_the_most_special_line_says_what_holds_otherwise(otherwise):
    said = (Permissions((), None), Permissions((), otherwise))
    assert policy_for(Policy(otherwise=PermissionDecision.ASK, wait=9.0), *said) == Policy((), otherwise, 9.0)
