"""How tests ask leave: for a run that works in /w/tree and may write there and in its task's folder."""

from orchestrator.formats.permission_rules import read_permissions
from orchestrator.model.permission import Act, Judgement, Policy, Ruling, Wish
from orchestrator.pm.permissions import judge, policy_for

GRANTS = ("/w/tree", "/w/task")


def policy(rules: str = "", otherwise: Ruling = Ruling.ASK) -> Policy:
    return policy_for(Policy(otherwise=otherwise), read_permissions(rules))


def run(command: str, rules: str = "", otherwise: Ruling = Ruling.ASK, cwd: str = "/w/tree") -> Judgement:
    return judge(policy(rules, otherwise), Wish("Bash", Act.RUN, command=command, cwd=cwd), GRANTS)


def ruling(command: str, rules: str = "", otherwise: Ruling = Ruling.ASK) -> Ruling:
    return run(command, rules, otherwise).ruling
