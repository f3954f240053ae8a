"""How tests ask for permissions.

They do so for a run that works in a worktree at /w/tree and may write there and in its task's folder.
"""

from orchestrator.formats.permission_rules import read_permissions
from orchestrator.model.permission import Act, PermissionDecision, Policy
from orchestrator.model.tool_request import Judgement, ToolRequest, Workplace
from orchestrator.pm.permissions import judge, policy_for

WORKPLACE = Workplace(
    ("/w/tree", "/w/task"),
    temporary=("/tmp",),
    withheld=("/home/me", "/tmp/withheld"),
    private=("/home/me/.local/state/agent-orchestrator",),
    home="/home/me",
    own_tree=True,
    top="/w/tree",
    variables=(("TMPDIR", ""),),
)


def policy(rules: str = "", otherwise: PermissionDecision = PermissionDecision.ASK) -> Policy:
    return policy_for(Policy(otherwise=otherwise), read_permissions(rules))


def run(
    command: str,
    rules: str = "",
    otherwise: PermissionDecision = PermissionDecision.ASK,
    cwd: str = "/w/tree",
    workplace: Workplace = WORKPLACE,
) -> Judgement:
    return judge(policy(rules, otherwise), ToolRequest("Bash", Act.RUN, command=command, cwd=cwd), workplace)


def decision(
    command: str, rules: str = "", otherwise: PermissionDecision = PermissionDecision.ASK
) -> PermissionDecision:
    return run(command, rules, otherwise).decision
