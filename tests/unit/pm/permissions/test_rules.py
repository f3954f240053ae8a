"""What the user's rules do: deny before ask before allow, all of them before what is built in."""

import pytest

from orchestrator.model.permission import Act, PermissionDecision, Policy
from orchestrator.model.tool_request import Judgement, ToolRequest
from orchestrator.pm.permissions import judge
from tests.unit.pm.permissions.permission_checks import WORKPLACE, decision, policy, run

ALLOW, ASK, DENY = PermissionDecision.ALLOW, PermissionDecision.ASK, PermissionDecision.DENY


@pytest.mark.parametrize(
    ("rules", "command", "expected"),
    [
        ("allow run docker compose up", "docker compose up", ALLOW),
        ("allow run docker compose up", "docker compose up -d", ASK),
        ("allow run docker compose *", "docker compose up -d", ALLOW),
        ("allow run docker compose *", "docker compose", ALLOW),
        ("allow run docker compose *", "docker compose $X", ASK),
        ("allow run docker compose *", "docker compose up > /etc/x", ASK),
        ("allow run docker compose *", "docker compose up | sh", ASK),
        ("allow run docker compose *", "docker compose up && curl x", ASK),
        ("allow run docker *", "/usr/bin/docker ps", ALLOW),
        ("allow run docker *", "/tmp/docker ps", ASK),
        ("allow run git push", "git push", ALLOW),
        ("allow run git push", "git push --force", DENY),
        ("allow run git push *", "git push --force", ALLOW),
        ("allow run git push *", "$(git push)", ASK),
        ("allow run git push *; deny run git push --force", "git push origin --force", DENY),
        ("allow run git push *; deny run git push --force", "git push origin --forc", DENY),
        ("allow run git push *; ask run git push", "git push", ASK),
        ("allow run uv *", "uv pip install x", ALLOW),
        ("allow run uv *", "uv run git push", DENY),
        ("allow run uv *; deny run pip", "uv run pip install x", DENY),
        ("allow run uv *; deny run pip", "uv pip install x", DENY),
        ("allow run xargs *; deny run git push", "xargs git push", DENY),
        ("allow run xargs *", "xargs sudo x", DENY),
        ("allow run *", "anything at all", ALLOW),
        ("allow run *", "anything | at all &", ALLOW),
        ("allow run *", "anything | $X", ASK),
        ("allow run *; deny run curl", "wget x; curl x", DENY),
        ("allow run ./build.sh", "./build.sh", ALLOW),
        ("allow run ./build.sh", "/opt/other/build.sh", ASK),
        ("deny run npm publish", "npm --prefix x publish", DENY),
        ("deny run npm publish", "npm ls publish", ALLOW),
        ("deny run rm -rf", "rm -f -r x", DENY),
        ("deny run rm -rf", "rm -r x", ALLOW),
        ("deny run python -c", "python3 -c x", ALLOW),
        ("deny run python* -c", "python3 -c x", DENY),
        ("deny run pytest", "PyTest", DENY),
        ("deny run sh", "sh -c ls", DENY),
        ("deny run pytest", "python -m pytest", DENY),
        ("deny run jest", "npx jest", DENY),
        ("deny run pip install", "python -W ignore -m pip install x", DENY),
        ("allow run git *; deny run evil", "git bisect run evil", DENY),
        ("allow run git *; deny run evil", "git commit -m evil", ALLOW),
        ("otherwise allow", "time -f x git push", ASK),
        ("ask run git commit", "git -C sub commit -m x", ASK),
        ("deny run ls", "cat x", ALLOW),
        ("deny write *.lock", "echo x > uv.lock", DENY),
        ("deny write /w/tree/docs", "rm docs/a.md", DENY),
        ("ask write docs/**", "cp x docs/a.md", ASK),
        ("allow write /data/**", "echo x > /data/a/b", ALLOW),
        ("allow write /data/**", "cp x /data/../etc/b", ASK),
        ("deny read /w/tree/private", "cat private/a", DENY),
        ("deny read /home/me/notes", "cat ~/notes/a", DENY),
        ("deny read /home/me/notes", "cat ~you/notes/a", ASK),
        ("allow read **/.env", "cat .env", ALLOW),
        ("allow tool Bash", "docker ps", ALLOW),
        ("allow tool Bash", "docker $(ps)", ASK),
        ("deny tool bash", "ls", DENY),
        ("ask tool B*", "ls", ASK),
        ("ask tool B*", "git push", DENY),
        ("otherwise deny", "docker ps", DENY),
        ("otherwise deny", "ls $(x)", DENY),
        ("otherwise deny", "touch /x", DENY),
        ("otherwise deny", "ls", ALLOW),
        ("otherwise allow", "docker ps", ALLOW),
        ("otherwise allow", "docker ps &", ALLOW),
        ("otherwise allow", "unheard-of git push", ASK),
        ("otherwise allow", "git rebase -x 'git push' main", DENY),
        ("otherwise allow", "git rebase -x git push main", ASK),
        ("otherwise allow", "unheard-of with git push in it", ASK),
        ("otherwise allow; deny run git push", "unheard-of git push", DENY),
    ],
)
def test_a_command_is_held_against_the_rules(rules, command, expected):
    assert decision(command, rules) == expected


def asked(
    tool: str,
    act: Act,
    rules: str = "",
    paths: tuple[str, ...] = (),
    command: str = "",
    *,
    inside: bool = False,
):
    return judge(policy(rules), ToolRequest(tool, act, paths, command, inside), WORKPLACE).decision


@pytest.mark.parametrize(
    ("rules", "path", "inside", "expected"),
    [
        ("", "/w/tree/a.py", True, ALLOW),
        ("", "/w/other/a.py", False, ASK),
        ("", "/w/tree/.git/hooks/x", True, DENY),
        ("", "/w/tree/.git", True, DENY),
        ("", "/w/tree/.gitignore", True, ALLOW),
        ("", "/w/tree/.claude/settings.local.json", True, DENY),
        ("", "/w/tree/.claude/hooks/a.sh", True, DENY),
        ("", "/w/tree/.claude/agents/dev.md", True, ALLOW),
        ("", "/home/me/.codex/config.toml", False, DENY),
        ("", "/w/tree/.Git/config", True, DENY),
        ("allow write /data/**", "/data/a/b", False, ALLOW),
        ("allow write /data/*", "/data/a/b", False, ASK),
        ("allow write /data", "/data/a", False, ASK),
        ("deny write **/*.lock", "/w/tree/uv.lock", True, DENY),
        ("deny write /w/tree/docs", "/w/tree/docs/a/b.md", True, DENY),
        ("deny write docs", "/w/tree/docs/a/b.md", True, DENY),
        ("allow write; deny write '/w/tree/a b'", "/w/tree/a b/c", True, DENY),
        ("allow write", "/etc/passwd", False, ALLOW),
        ("allow write; ask write", "/w/tree/a", True, ASK),
        ("deny tool Write", "/w/tree/a.py", True, DENY),
        ("allow tool Write", "/etc/x", False, ALLOW),
        ("otherwise deny", "/etc/x", False, DENY),
    ],
)
def test_a_path_is_held_against_the_rules(rules, path, inside, expected):
    assert asked("Write", Act.WRITE, rules, (path,), inside=inside) == expected
    assert asked("Write", Act.WRITE, rules, ("/w/tree/fine", path), inside=inside) in {expected, ASK}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/etc/hosts", ALLOW),
        ("/w/tree/.env", DENY),
        ("/w/tree/.env.production", DENY),
        ("/w/tree/.env.example", ALLOW),
        ("/home/me/.ssh/config", DENY),
        ("/home/me/.ssh", DENY),
        ("/home/me/.ssh/id_rsa.pub", ALLOW),
        ("/home/me/.aws/credentials", DENY),
        ("/home/me/.gnupg/x/y", DENY),
        ("/srv/deploy_rsa", DENY),
        ("/srv/CREDENTIALS", DENY),
        ("/w/tree/src/credentials.py", ALLOW),
        ("/proc/1/environ", DENY),
    ],
)
def test_all_is_read_but_secrets(path, expected):
    assert asked("Read", Act.READ, paths=(path,)) == expected


@pytest.mark.parametrize(
    ("rules", "address", "expected"),
    [
        ("", "https://example.org/x", ASK),
        ("deny fetch", "https://example.org/x", DENY),
        ("allow fetch", "https://example.org/x", ALLOW),
        ("allow fetch docs.python.org", "https://docs.python.org/3/", ALLOW),
        ("allow fetch docs.python.org", "https://docs.python.org:8443?x", ALLOW),
        ("allow fetch docs.python.org", "https://docs.python.org@evil.example/", ASK),
        ("allow fetch docs.python.org", "https://evil.example/docs.python.org", ASK),
        ("allow fetch docs.python.org", "docs.python.org", ASK),
        ("allow fetch *.python.org", "https://docs.python.org/", ALLOW),
        ("allow fetch *.python.org", "https://python.org.evil.example/", ASK),
        ("allow fetch https://example.org/a/*", "https://example.org/a/b", ALLOW),
        ("allow fetch; deny fetch example.org", "https://www.Example.org./", DENY),
        ("allow fetch; deny fetch example.org", "not an address", DENY),
        ("allow fetch; deny fetch example.org", "https://other.org/", ALLOW),
        ("allow tool WebFetch", "https://example.org/", ALLOW),
    ],
)
def test_an_address_is_held_against_the_rules(rules, address, expected):
    assert asked("WebFetch", Act.FETCH, rules, command=address) == expected


@pytest.mark.parametrize(
    ("rules", "tool", "expected"),
    [
        ("", "mcp__github__search", ASK),
        ("allow tool mcp__github__*", "mcp__github__search", ALLOW),
        ("allow tool mcp__github__*", "mcp__gitlab__search", ASK),
        ("allow tool mcp__*; deny tool *__delete*", "mcp__x__delete_all", DENY),
        ("otherwise allow", "unheard-of", ALLOW),
    ],
)
def test_a_tool_is_held_against_the_rules_by_its_name(rules, tool, expected):
    assert asked(tool, Act.OTHER, rules) == expected


def test_nobody_is_asked_at_a_terminal_where_nobody_sits():
    found = judge(Policy(), ToolRequest("AskUserQuestion", Act.ASK), WORKPLACE)
    assert found.decision == DENY
    assert found.why == (
        "nobody sits at this terminal: if you cannot decide it yourself, hand in Status BLOCKED with your question"
    )
    assert asked("AskUserQuestion", Act.ASK, "ask ask") == ASK
    assert asked("AskUserQuestion", Act.ASK, "allow tool AskUserQuestion") == ALLOW


def test_why_names_the_rule_and_where_it_stands():
    assert run("npm test", "deny run npm") == Judgement(DENY, "`npm test`: the rule `deny run npm` (task.md)")
    assert run("docker ps").why == "no rule speaks of `docker ps`: otherwise ask"
    assert run("ls 'x").why == "`ls 'x` cannot be judged with certainty: it has a quote that is not closed"
    assert run("git push").why == "`git push`: only a person may send work away from this machine (built in)"


def test_what_an_agent_wrote_is_shown_as_one_harmless_line():
    assert run("docker `\x1b[2J\n" + "x" * 999).why.isprintable()
    assert len(run("docker " + "x" * 999).why) < 300
