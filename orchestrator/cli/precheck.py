"""What can be checked about a task before it starts: where its agents begin, and whether they find what they need.

`task start` makes the cheap checks, and does not start if something is missing. `task start --check` makes all of
them, and starts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.agent_environment import AgentEnvironment, environment_of
from orchestrator.cli.beat import Beat
from orchestrator.cli.commands import CommandLocation, Commit, Folder, judged
from orchestrator.cli.findings import Finding, Severity
from orchestrator.cli.git_filters import filters_at, of_filters
from orchestrator.cli.git_submodules import of_submodules
from orchestrator.cli.screen import typed
from orchestrator.extensions import missing_for
from orchestrator.hosts.host_kinds import HOST_KINDS
from orchestrator.model.agents import Agent
from orchestrator.model.errors import Refused, Unavailable
from orchestrator.model.settings import Settings
from orchestrator.model.task import Brief, WorkspaceKind
from orchestrator.pm.plan.families import family_of
from orchestrator.pm.plan.work_location import location_of
from orchestrator.ports.host_kind import kind_and_name
from orchestrator.runtimes.cli_inventory import AGENT_CLIS, AgentCli, program_on
from orchestrator.runtimes.environment import passed
from orchestrator.runtimes.logins import login_files, login_variables
from orchestrator.runtimes.registry import COMMAND, RUNTIMES, runtime_of
from orchestrator.runtimes.roster import PM, Roster, find_agents, undefined
from orchestrator.runtimes.skills import find_skills
from orchestrator.runtimes.templates import template_folder
from orchestrator.shipped import shipped
from orchestrator.workspaces.repository import Repository
from orchestrator.workspaces.user_tree import UserTree

SHORT: Final = 10
_FILES: Final = 5


@dataclass(frozen=True)
class Case:
    """A task to start. `known`: it was started before, so its branch is its own."""

    name: str
    project: Path
    brief: Brief
    settings: Settings
    environ: Mapping[str, str]
    known: bool = False

    @cached_property
    def house(self) -> AgentEnvironment:
        """The variables that reach an agent."""
        beat = Beat(layout.state_folder(self.environ))
        theirs = environment_of(beat.pid) if beat.up and beat.pid else None
        return AgentEnvironment(self.environ, theirs or self.environ, self.settings.environment.passed)

    @cached_property
    def search(self) -> str:
        """The `PATH` of an agent."""
        return passed(self.house.daemons, self.house.names).get("PATH", "")

    @property
    def branch(self) -> str:
        """The task's branch."""
        return f"task/{self.name}"

    @cached_property
    def grounds(self) -> tuple[tuple[Repository, UserTree] | None, list[Finding]]:
        """The repository that the task's trees are made from, if any, or why there is none."""
        if self.brief.config.workspace is WorkspaceKind.SHARED:
            return None, []
        try:
            repository = Repository.of(self.code, self.settings.git.timeout, self.environ)
            return (repository, UserTree.of(repository, self.code)), []
        except (Refused, Unavailable) as error:
            return None, [Finding("base", Severity.MISSING, str(error))]

    @property
    def begins(self) -> str:
        """The commit from which the task will begin; empty if it has begun, or has no repository here."""
        if self.known or self.grounds[0] is None:
            return ""
        repository, own = self.grounds[0]
        return repository.commit_of(f"refs/heads/{self.branch}") or own.head

    @property
    def code(self) -> Path:
        """The folder of the code that the task works on."""
        place = self.brief.config.cwd
        return Path(place.path).expanduser() if place and not place.host else self.project

    @cached_property
    def roster(self) -> tuple[Roster | None, list[Finding]]:
        """The agents that the task could start, or None; and the reason, or warnings about skipped files."""
        named, config = self.brief.config.template, self.brief.config
        try:
            template = (
                template_folder(named, self.settings.templates.folders, self.environ) if named else None
            )
            roster = find_agents(
                self.project,
                template,
                config,
                shipped("agents"),
                path=self.search,
                defined=self.settings.runtimes,
            )
        except Refused as error:
            return None, [Finding("agents", Severity.MISSING, str(error))]
        return roster, [Finding("agents", Severity.WARN, warning) for warning in roster.warnings]

    @property
    def needed(self) -> tuple[str, ...]:
        """The agents without which the task cannot be done."""
        return (*family_of(self.brief).agents(self.brief), *([PM] if self.brief.config.pm else []))


def look(case: Case) -> list[Finding]:
    """Return the findings of all cheap checks."""
    if missing := missing_for(case.brief):
        return [Finding("task.md", Severity.MISSING, missing, "`task doctor` lists what is installed")]
    hosts = list(_hosts(case))
    grounds, no_ground = case.grounds
    roster, no_roster = case.roster
    found = [*hosts, *_programs(case), *no_ground, *no_roster]
    ground: CommandLocation = Folder(case.code)
    if grounds is not None:
        repository, own = grounds
        tip = repository.commit_of(f"refs/heads/{case.branch}")
        found += _base(case, repository, own, tip)
        ground = Commit(repository, case.code, tip or own.head, case.name if tip and case.known else "")
        found += of_submodules(repository, ground.commit)
        found += of_filters(filters_at(repository, ground.commit, case.environ.get("PATH", "")), case.code)
    if roster is not None:
        found += _missing(case, roster)
        for name, agent in roster.agents.items():
            if name in case.needed or name in case.brief.config.agents:
                found += _agent(case, agent, ground)
    return together([*found, *_preparation(case, ground), *_skills(case)])


def together(found: Iterable[Finding]) -> list[Finding]:
    """Merge findings that say the same about several agents."""
    topics: dict[tuple[Severity, str, str], list[str]] = {}
    for each in found:
        topics.setdefault((each.severity, each.text, each.fix), []).append(each.topic)
    return [
        Finding(", ".join(dict.fromkeys(names)), severity, text, mend)
        for (severity, text, mend), names in topics.items()
    ]


def _hosts(case: Case) -> Iterator[Finding]:
    """Yield what prevents runs on the hosts of a kind that task.md names."""
    named = (case.brief.config.host, *(wish.host for wish in case.brief.config.agents.values()))
    for host in dict.fromkeys(each for each in named if each):
        kind, name = kind_and_name(host)
        if lacks := HOST_KINDS.find(kind).lacks(name):
            yield Finding(f"host {kind}", Severity.MISSING, lacks)


def _programs(case: Case) -> Iterator[Finding]:
    for name, why in (("tmux", "agents run in it"), ("git", "it keeps the agents' work")):
        if program_on(case.environ.get("PATH", ""), name) is None:
            yield Finding(
                name,
                Severity.MISSING,
                f"is not installed: {why}",
                f"install {name} with your package manager",
            )


# The base -----------------------------------------------------------------------------------------


def _base(case: Case, repository: Repository, own: UserTree, tip: str) -> Iterator[Finding]:
    """Yield the commit from which the task would begin, and what is not in it. `tip`: its branch's, or empty."""
    if repository.commit_of("refs/heads/task"):
        yield Finding(
            "base",
            Severity.MISSING,
            f"a branch `task` is in the way of task/{case.name}",
            typed("git", "-C", case.code, "branch", "-m", "task", "NEW-NAME"),
        )
    branch, known = case.branch, case.known
    if own.branch == branch:
        yield Finding(
            "base",
            Severity.MISSING,
            f"{branch} is checked out here, and the task is to move it",
            "git switch BRANCH",
        )
    elif not known and tip not in {"", own.head}:
        yield Finding(
            "base",
            Severity.WARN,
            f"a branch {branch} exists already, at {tip[:SHORT]}: the task goes on from there",
            typed("git", "-C", case.code, "branch", "-D", branch),
        )
    if known:
        return
    if tip not in {"", own.head}:
        begins = f"{tip[:SHORT]} of {branch}"
    else:
        begins = own.head[:SHORT] + (
            f" of {own.branch}" if own.branch else ", which no branch has checked out here"
        )
    yield Finding("base", Severity.OK, f"agents begin from {begins}")
    if own.under_way:
        yield Finding(
            "base",
            Severity.WARN,
            f"a {own.under_way} is in progress here: its result will not be in that commit",
        )
    if changed := sorted(own.uncommitted() | own.untracked(f"tasks/{case.name}/")):
        named = ", ".join(changed[:_FILES]) + (
            f" and {len(changed) - _FILES} more" if len(changed) > _FILES else ""
        )
        yield Finding(
            "base",
            Severity.WARN,
            f"changed here but not committed, so no agent sees it: {named}",
            "git commit",
        )


# Agents -------------------------------------------------------------------------------------------


def _missing(case: Case, roster: Roster) -> Iterator[Finding]:
    for name in case.needed:
        if name not in roster.agents:
            yield Finding(name, Severity.MISSING, undefined(name, case.project))


def _agent(case: Case, agent: Agent, ground: CommandLocation) -> Iterator[Finding]:
    """Yield what prevents an agent's launch. An agent on a box is checked there."""
    place = location_of(case.brief.config, agent.name)
    if place is not None and place.host:
        return
    if place is not None:
        ground = Folder(Path(place.path).expanduser())
        if not ground.path.is_dir():
            yield Finding(f"{agent.name}.cwd", Severity.MISSING, f"{ground.path} is not a folder")
            return
    try:
        runtime = runtime_of(agent, case.settings.runtimes)
    except Refused as error:
        yield Finding(agent.name, Severity.MISSING, str(error))
        return
    if runtime.name == COMMAND and agent.command:
        yield from judged(f"{agent.name}.command", agent.command, ground, case.search)
    if agent.check:
        yield from judged(f"{agent.name}.check", agent.check, ground, case.search)
    if (cli := _cli(runtime.name)) is not None:
        yield from _of_cli(case, agent, cli)


def _preparation(case: Case, ground: CommandLocation) -> Iterator[Finding]:
    """Yield what keeps worktrees from being made ready. Later commands may run what the first one has made."""
    if case.brief.config.prepare:
        yield from judged("prepare", case.brief.config.prepare[0], ground, case.search)
    copied = case.brief.config.prepare_copy
    if not (copied and isinstance(ground, Commit)):
        return
    from orchestrator.workspaces.lookup import ignored  # few tasks copy files

    kept_out = ignored(replace(ground.repository.git, cwd=case.code, variables={}), copied)
    for path in copied:
        if not (case.code / path).is_file():
            yield Finding("prepare.copy", Severity.MISSING, f"{path} is no file in {case.code}")
        elif path not in kept_out:
            yield Finding(
                "prepare.copy",
                Severity.MISSING,
                f"{path} is not ignored by git: commits of agents would hold it",
                f"name it in .gitignore, and commit that, or in {case.code}/.git/info/exclude",
            )


def _cli(runtime: str) -> AgentCli | None:
    return next((cli for cli in AGENT_CLIS if cli.name == runtime and runtime in RUNTIMES), None)


def _of_cli(case: Case, agent: Agent, cli: AgentCli) -> Iterator[Finding]:
    reaching = case.house.of_agent(cli)
    if program_on(reaching.get("PATH", ""), cli.program) is None:
        yield Finding(
            f"{agent.name}.runtime",
            Severity.MISSING,
            f"{cli.program} is not on the PATH that an agent gets",
            cli.install,
        )
    elif not login_files(cli, reaching) and not login_variables(cli, reaching):
        yield Finding(
            f"{agent.name}.runtime",
            Severity.WARN,
            f"no login of {cli.title} is visible in files or variables that an agent gets",
            cli.login,
        )


def _skills(case: Case) -> Iterator[Finding]:
    wanted = [*case.brief.config.skills]
    wanted += [name for wish in case.brief.config.agents.values() for name in wish.skills]
    if not wanted:
        return
    home = case.environ.get("HOME", "")
    known = {
        skill.name for skill in find_skills(case.project, Path(home) if home.startswith("/") else None).found
    }
    for name in dict.fromkeys(wanted):
        if name not in known:
            yield Finding("skills", Severity.WARN, f"{name} was not found; orders will name it anyway")
