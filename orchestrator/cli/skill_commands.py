"""Carries out `task skill`."""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
import uuid
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from orchestrator import layout
from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.screen import columns, harmless, typed, wrapped
from orchestrator.cli.skill_driver import STEP_NAMES, SkillDriver, Surroundings
from orchestrator.cli.skill_handover import hand_over, take_back
from orchestrator.cli.start_target import known_task
from orchestrator.formats.skill.state import PROTOCOL
from orchestrator.formats.text import FILE_BYTES, decoded
from orchestrator.hosts.disk import DiskFiles
from orchestrator.model.composite import CompositeSkill, Confidence, Domain, DomainRules, SkillSession
from orchestrator.model.errors import BadFile
from orchestrator.own_files import make_state_folder
from orchestrator.pm.plan.composite.recognition import match
from orchestrator.records.memory_offers import tagged_memories
from orchestrator.records.skill_key import skill_key
from orchestrator.records.skill_registry import PROJECT_SKILLS, SkillRegistry, found_rules, found_skills
from orchestrator.records.skill_store import SkillStore, state_file
from orchestrator.shipped import shipped

LEARNINGS: Final = 5
"""How many learnings the agents get."""

_BEGINNING: Final = frozenset({"run", "dispatcher"})


def run(options: Namespace) -> int:
    """Carry out the given action; return the exit code."""
    _refuse_strays(options)
    if options.action == "list":
        _list(_registry(_project(options)), as_json=options.json)
    elif options.action == "show":
        _show(options)
    elif options.action in _BEGINNING and not (options.state and not options.words):
        return _begin(options)
    elif options.daemon:
        path = _existing(options)
        return hand_over(_driver(path), path, _alone)
    elif options.action == "run":
        _take_back(options)
    else:
        _go_on(options)
    return Exit.DONE


# Looking ------------------------------------------------------------------------------------------


def _list(registry: SkillRegistry, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"skills": [_listed(registry, name) for name in sorted(registry.paths)]}))
        return
    for name, path in sorted(registry.paths.items()):
        print(harmless(name))
        said = registry.faults.get(name) or registry.skills[name].description or "no description"
        bad = "cannot be used: " if name in registry.faults else ""
        print("\n".join(wrapped(f"{bad}{said}", columns(), "  ")))
        print(f"  {harmless(path)}")
    if not registry.paths:
        print(f"there are no composite skills; write {PROJECT_SKILLS}/NAME/config.yaml")


def _listed(registry: SkillRegistry, name: str) -> dict[str, str]:
    fault = registry.faults.get(name, "")
    description = "" if fault else registry.skills[name].description
    return {"name": name, "description": description, "path": str(registry.paths[name]), "fault": fault}


def _show(options: Namespace) -> None:
    if len(options.words) != 1:
        raise CommandError(Exit.USAGE, "`task skill show` takes the name of one skill")
    registry = _registry(_project(options))
    skill = registry.find(options.words[0])
    if options.json:
        print(json.dumps(_document(skill, registry.paths[skill.name])))
        return
    print(f"{skill.name}  {harmless(registry.paths[skill.name])}")
    for text in (skill.description, f"recognised by: {', '.join(skill.match)}" if skill.match else ""):
        if text:
            print("\n".join(wrapped(text, columns(), "  ")))
    for number, phase in enumerate(skill.phases, 1):
        reads = ", ".join(skill.readable(phase))
        print(f"{number}. {phase.id}  {phase.agent}{f'  reads the memory of {reads}' if reads else ''}")
        for line in phase.instructions.splitlines():
            print("\n".join(wrapped(line, columns(), "   ")))


def _document(skill: CompositeSkill, path: Path) -> dict[str, object]:
    return {
        "name": skill.name,
        "description": skill.description,
        "path": str(path),
        "match": list(skill.match),
        "domain": skill.domain,
        "phases": [
            {
                "id": phase.id,
                "agent": phase.agent,
                "instructions": phase.instructions,
                "reads": list(skill.readable(phase)),
            }
            for phase in skill.phases
        ],
    }


# Sessions -----------------------------------------------------------------------------------------


def _begin(options: Namespace) -> int:
    project = _project(options)
    registry = _registry(project)
    match options.words:
        case [request]:
            found = _matched(registry, request)
            if found is None:
                return Exit.WAITING
            name = found
        case [name, request]:
            registry.find(name)
        case _:
            raise CommandError(
                Exit.USAGE,
                f"`task skill {options.action}` takes a skill and a request, or a request; quote it",
            )
    if not request.strip():
        raise CommandError(Exit.USAGE, "the request is empty: say what you want to have")
    session = SkillSession(secrets.token_hex(6), str(project), name, request)
    path = _state_path(options) if options.state else state_file(project, session.session)
    driver = _driver(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path):
        directive = driver.dispatch(session)
        if not options.daemon:
            print(driver.entry() if options.action == "run" else directive, end="")
    return hand_over(driver, path, _alone) if options.daemon else Exit.DONE


def _matched(registry: SkillRegistry, request: str) -> str | None:
    """Return the skill that a request is for, and say why; None, and the question, if that is unsure."""
    found = match(request, registry.skills.values())
    if found.confidence is not Confidence.UNSURE:
        print(f"{found.skill} ({found.confidence}): {harmless(found.reason)}\n")
        return found.skill
    print(f"Which skill is it for? {harmless(found.reason)}.")
    for name in dict.fromkeys([*filter(None, [found.skill]), *found.others]):
        print(f"  {typed('task', 'skill', 'run', name, request)}")
    return None


def _go_on(options: Namespace) -> None:
    if options.words or not options.state:
        raise CommandError(Exit.USAGE, f"`task skill {options.action}` takes --state FILE, and no word")
    path = _existing(options)
    driver = _driver(path)
    with _alone(path):
        if options.action in STEP_NAMES:
            domain = Domain(options.domain) if options.domain else None
            said = driver.step(STEP_NAMES.index(options.action) + 1, domain)
        elif options.action == "advance_phase":
            said = _advanced(driver, path)
        elif options.action == "complete":
            said = driver.complete()
        else:
            said = driver.entry()
    print(said.rstrip("\n"))


def _take_back(options: Namespace) -> None:
    """Go on with a session by commands, also with one that a task at rest drives."""
    path = _existing(options)
    if left := take_back(_driver(path), path, _alone):
        print(left)
    _go_on(options)


def _advanced(driver: SkillDriver, path: Path) -> str:
    try:
        return driver.advance_phase()
    except BadFile as problem:
        again = typed("task", "skill", "step_5_trigger_agents", "--state", path)
        raise CommandError(
            Exit.FAILED, f"the phase stays at work: {problem}\n`{again}` shows its directive again"
        ) from None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other commands from the same state file. Its folder is what is locked: the lock ends with this process."""
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _driver(path: Path) -> SkillDriver:
    around = Surroundings(
        new_id=lambda: uuid.uuid4().hex[:12],
        skill=_skill,
        rules=_rules,
        learnings=_learnings,
        content=_content,
        task_state=_task_state,
    )
    state = layout.state_folder(os.environ)
    make_state_folder(state)
    return SkillDriver(SkillStore(DiskFiles(), path, skill_key(DiskFiles(), Path(state))), around)


def _task_state(session: SkillSession) -> str:
    """Return in which state the task of a session is; empty if there is none, or only the remains of a refused one."""
    from orchestrator.cli.list import state_of  # most commands find a session that no task drives

    found = known_task(layout.state_folder(os.environ), session.task, session.project)
    return state_of(found) if found is not None and found.wanted else ""


def _skill(session: SkillSession) -> CompositeSkill:
    return _registry(Path(session.project)).find(session.skill)


def _rules(session: SkillSession) -> DomainRules:
    return found_rules(
        DiskFiles(), [shipped("agents") / "composite", Path(session.project) / "protocols/skill"]
    )


def _learnings(session: SkillSession) -> Sequence[str]:
    if session.classified is None:
        return ()
    data = Path(session.project) / layout.DATA
    state, domain = layout.state_folder(os.environ), session.classified.domain
    return [memory.content for memory in tagged_memories(state, data, domain, time.time(), LEARNINGS)]


def _content(session: SkillSession, number: int) -> str:
    """Return the instruction text of a step: the project's own, or the one that ships."""
    name = f"{STEP_NAMES[number - 1]}.md"
    own = Path(session.project) / PROTOCOL / "content" / name
    files = DiskFiles()
    path = own if files.entry(own) is not None else shipped("scripts") / PROTOCOL / "content" / name
    return decoded(files.read(path, FILE_BYTES), str(path))


def _registry(project: Path) -> SkillRegistry:
    own = Path(layout.config_file(os.environ)).parent / "skills"
    return found_skills(DiskFiles(), [project / PROJECT_SKILLS, own, shipped("agents") / "composite"])


# Words --------------------------------------------------------------------------------------------


def _project(options: Namespace) -> Path:
    folder = Path(options.project).expanduser().absolute() if options.project else Path.cwd()
    if not folder.is_dir():
        raise CommandError(Exit.USAGE, f"{harmless(folder)} is no folder: give the project's")
    return folder


def _existing(options: Namespace) -> Path:
    """Return the state file, which has to be there."""
    path = _state_path(options)
    if not path.is_file():
        raise CommandError(Exit.USAGE, f"there is no {harmless(path)}: begin a session with `task skill run`")
    return path


def _state_path(options: Namespace) -> Path:
    return Path(options.state).expanduser().absolute()


_BELONGS: Final = {
    "route": ("dispatcher",),
    "domain": ("step_2_classify_domain",),
    "project": ("list", "show", "run", "dispatcher"),
    "json": ("list", "show"),
    "daemon": ("run",),
}
"""To which actions an option belongs."""


def _refuse_strays(options: Namespace) -> None:
    for option, actions in _BELONGS.items():
        if getattr(options, option) and options.action not in actions:
            raise CommandError(Exit.USAGE, f"--{option} only belongs to `task skill {' or '.join(actions)}`")
    if options.action == "dispatcher" and not options.route:
        raise CommandError(Exit.USAGE, f"`task skill dispatcher` takes --route {PROTOCOL}")
    if options.action in {"list", "show"} and options.state:
        raise CommandError(Exit.USAGE, f"`task skill {options.action}` takes no --state")
