"""Rules of leave as people write them, and back."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.formats.permission_rules import (
    LONGEST,
    MOST,
    pattern_words,
    read_permissions,
    read_rule,
    written_permissions,
)
from orchestrator.model.errors import Refused
from orchestrator.model.permission import Act, PermissionDecision, PermissionRule, Permissions


def test_a_line_holds_rules_and_what_holds_otherwise():
    said = read_permissions(
        "allow run npm test; deny run git push;allow write /data/** ;deny fetch;"
        " allow tool mcp__github__*; otherwise deny"
    )
    assert said == Permissions(
        (
            PermissionRule(PermissionDecision.ALLOW, Act.RUN, "npm test", "task.md"),
            PermissionRule(PermissionDecision.DENY, Act.RUN, "git push", "task.md"),
            PermissionRule(PermissionDecision.ALLOW, Act.WRITE, "/data/**", "task.md"),
            PermissionRule(PermissionDecision.DENY, Act.FETCH, "", "task.md"),
            PermissionRule(PermissionDecision.ALLOW, None, "mcp__github__*", "task.md"),
        ),
        PermissionDecision.DENY,
    )


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("allow run  npm   test", "npm test"),
        ("allow run sh -c 'a; b # c'", "sh -c 'a; b # c'"),
        ('deny run "git" push', "git push"),
        ("ask run git\\ push", "'git push'"),
        ("allow run *", "*"),
        ("allow write '/a b/**'", "'/a b/**'"),
        ("allow write ~/data/**", f"{Path.home()}/data/**"),
        ("deny read *.pem", "*.pem"),
        ("allow read", ""),
        ("deny ask", ""),
        ("allow fetch https://example.org/*", "https://example.org/*"),
    ],
)
def test_a_pattern_is_kept_in_one_form(text, pattern):
    assert read_rule(text, "x").pattern == pattern


def test_a_semicolon_in_quotes_parts_nothing():
    said = read_permissions("""allow run sh -c 'a; "b'; deny run x "; y"; ; otherwise ask;""")
    assert [rule.pattern for rule in said.rules] == ["""sh -c 'a; "b'""", "x '; y'"]
    assert said.otherwise is PermissionDecision.ASK


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("allow", "write allow, deny, ask, then read, write, run, fetch, ask or tool: `allow run npm test`"),
        ("Allow run x", "has the rule 'Allow run x'"),
        ("permit run x", "has the rule 'permit run x'"),
        ("deny everything", "has the rule 'deny everything'"),
        ("allow run ''", "say which command"),
        ("allow run " + "x" * (LONGEST + 1), f"longer than {LONGEST}"),
        ("allow run x\u202ey", "holds hidden ones"),
        ("allow run it's", "has a quote that is not closed"),
        ("otherwise", "has otherwise ''"),
        ("; ".join(["deny fetch"] * (MOST + 1)), f"give at most {MOST}"),
    ],
)
def test_fault_in_permissions_names_what_is_allowed(text, reported):
    with pytest.raises(Refused) as refused:
        read_permissions(text)
    assert reported in str(refused.value)


words = st.lists(
    st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=8),
    min_size=1,
    max_size=4,
)
rules = st.one_of(
    st.builds(
        lambda decision, parts: (
            f"{decision} run {' '.join(chr(39) + part.replace(chr(39), '') + 'x' + chr(39) for part in parts)}"
        ),
        st.sampled_from(PermissionDecision),
        words,
    ),
    st.sampled_from(
        ["deny fetch", "allow read", "allow write /a/**", "ask write 'a b'", "deny tool x*", "deny ask"]
    ),
)


@given(st.lists(rules, max_size=5), st.sampled_from([None, *PermissionDecision]))
def test_what_is_written_is_read_back(texts, otherwise):
    said = read_permissions("; ".join([*texts, *([f"otherwise {otherwise}"] if otherwise else [])]))
    assert len(said.rules) == len(texts)
    assert read_permissions(written_permissions(said)) == said


@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from(
            ["allow", "deny", "run", "write", "tool", ";", "'", '"', "\\", "#", "*", "/", "~", ".."]
        )
    ).map(" ".join)
)
def test_any_text_is_rules_or_refused(text):
    try:
        said = read_permissions(text)
    except Refused:
        return
    assert read_permissions(written_permissions(said)) == said
    assert all(pattern_words(rule.pattern) for rule in said.rules if rule.act is Act.RUN)
