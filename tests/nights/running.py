"""Runs one night: a house with its CLIs, the service, who looks, watches and directs; returns what was seen of it."""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from tests.chaos.machine import small_disk
from tests.clis.house import House, a_house_of
from tests.clis.pinned import pins
from tests.integration.daemon.world import World
from tests.nights.catalogue import nights
from tests.nights.directing import Director, Scene
from tests.nights.far import a_box_for, repository
from tests.nights.gathering import gather
from tests.nights.looking import NOTIFICATION, Looker
from tests.nights.night import Job, Night
from tests.nights.observation import Observation, Shown, keep
from tests.nights.scaling import as_variables, scaled
from tests.nights.service import Service
from tests.nights.shop import ALL_PASS, PARTS, make_shop
from tests.nights.watching import Watcher
from tests.webhook import Webhook, a_webhook

TOKEN: Final = "sk-ant-oat01-dummy-token-of-a-subscription"
OBSERVATION: Final = "observation.json"
SETTLES: Final = 3.0
"""Real seconds after the end of the last task in which what is still to be written and told may come."""


def run_named(name: str, folder: Path | None) -> Observation:
    """Run a night by its name; what was seen and what lies in its folders is kept below a folder, if one is given."""
    mine = folder / name if folder else None
    seen = run_night(nights()[name], mine)
    if mine:
        keep(seen, mine / OBSERVATION)
    return seen


def not_measured(night: Night, why: str) -> Observation:
    """Return what is known of a night that the bench could not run to its end."""
    now = time.time()
    return Observation(night.name, night.factor, now, now, now, faults=[why[:4000]])


def run_night(night: Night, folder: Path | None = None) -> Observation:
    """Run a night and return what was seen. What lies in its folders is copied to `folder`, if given."""
    with ExitStack() as stack:
        service = Service(
            night.cast(), night.weather(), night.factor, vendor_of=lambda agent: vendor(night, agent)
        )
        service.cast.parts = {job.name: job.parts for job in night.jobs}
        house = stack.enter_context(_furnished(night, service))
        webhook = stack.enter_context(a_webhook(listener=house.network.listener()))
        _set_up(house.world, webhook, night.files)
        looker = Looker(house, [])
        box = stack.enter_context(a_box_for(house, night)) if night.box else None
        repositories = [house.world.project, *([repository(box)] if box else [])]
        watcher = Watcher(house.world, repositories, [house.world.root, *([box.folder] if box else [])])
        scene = Scene(house, night, service, looker, watcher, time.time(), box=box)
        _scale(scene)
        watch = _started(stack, watcher)
        house.daemon()
        scene.began = time.time()
        _begin(scene)
        look = _started(stack, looker)
        Director(scene).run()
        ended = time.time()
        _settle(scene)
        for each in (look, watch):
            each.join(150)
        looker.look_last()
        watcher.watch()
        _hear(webhook, looker)
        seen = gather(scene, ended)
        if folder is not None:
            _copy(house, folder)
        return seen


def vendor(night: Night, agent: str) -> str:
    """Return whose service an agent's CLI uses: the CLI's own name."""
    return night.pin_of(agent).partition("-")[0]


@contextmanager
def _furnished(night: Night, service: Service) -> Iterator[House]:
    with ExitStack() as stack:
        root = None
        if night.disk:
            root = Path(tempfile.mkdtemp(prefix="world-", dir="/tmp"))
            stack.callback(shutil.rmtree, root, ignore_errors=True)
        settings = dict[str, str]()
        house = stack.enter_context(a_house_of(night.pins, service.answer, settings, _on(night, root, stack)))
        house.server.beside = service.beside
        if night.token:
            # With a token Claude Code tells of limits as it does to a subscriber, in whole minutes.
            house.world.environ.pop("ANTHROPIC_API_KEY", None)
            house.world.environ["CLAUDE_CODE_OAUTH_TOKEN"] = TOKEN
        yield house


def _on(night: Night, root: Path | None, stack: ExitStack) -> Path | None:
    if root is not None:
        stack.enter_context(small_disk(_Nobody(), root, night.disk))  # type: ignore[arg-type] # ended by the house
    return root


class _Nobody:
    """Stands for a world whose processes are ended elsewhere."""

    def end_processes(self) -> None:
        """End nobody."""


def _set_up(world: World, webhook: Webhook, files: Mapping[str, str]) -> None:
    """Give the user a shop in git, with further files, and a channel by which they are told."""
    shutil.rmtree(world.project)
    world.project.mkdir()
    make_shop(world.project, files)
    for words in (["init", "-q", "-b", "main"], ["add", "--all"], ["commit", "-q", "-m", "The shop"]):
        world.git(*words)
    config = Path(world.environ["HOME"], ".config", "agent-orchestrator", "config.toml")
    config.parent.mkdir(parents=True)
    config.write_text(f'[notify]\nchannels = ["{webhook.url}"]\n')
    config.chmod(0o600)


def _scale(scene: Scene) -> None:
    """Scale the settings of this user, who has set nothing, by the night's factor."""
    world, night = scene.house.world, scene.night
    usual = {key: value for key, value in world.environ.items() if "__" not in key}
    world.environ.clear()
    world.environ |= usual
    shown = scene.looker.task("config", "--json")
    world.environ |= {
        f"ORCHESTRATOR_{key.upper()}": value
        for key, value in as_variables(scaled(shown.out, night.factor, night.settings)).items()
    }
    world.environ["ORCHESTRATOR_TMUX__SOCKET"] = world.tmux.name


def _begin(scene: Scene) -> None:
    """Start the tasks, each when its time has come."""
    for job in scene.night.jobs:
        scene.pause(max(0.0, scene.real(job.after) - (time.time() - scene.began)))
        _brief(scene, job)
        said = scene.looker.task("start", job.name, "--project", str(scene.house.world.project))
        scene.looker.note("task start", job.name, said.out + said.err, said.code)
        scene.looker.tasks.append(job.name)
        if said.code:
            scene.faults.append(f"task start {job.name}: {said.out}{said.err}")


def _brief(scene: Scene, job: Job) -> None:
    folder = scene.house.world.project / "tasks" / job.name
    folder.mkdir(parents=True, exist_ok=True)
    criteria = [*(PARTS[name].criterion for name in job.parts), ALL_PASS]
    night = scene.night
    lines = [
        f"# Task: {job.name}",
        "## Goal",
        f"Add to the shop: {', '.join(job.parts)}.",
        "## Success Criteria",
    ]
    lines += [f"- {each}" for each in criteria]
    lines += ["## Agent Config", f"runtime: {vendor(night, '')}"]
    for agent, pin in night.runtimes.items():
        if agent != "*" and pin.partition("-")[0] != vendor(night, ""):
            lines.append(f"{agent}.runtime: {pin.partition('-')[0]}")
        if pin.partition("-")[0] == "aider":
            lines.append(f"{agent}.model: openai/bench")
    if scene.box is not None:
        lines.append(f"dev.cwd: {scene.box.name}:{repository(scene.box)}")
    (folder / "task.md").write_text("\n".join([*lines, *job.config]) + "\n")


def _started(stack: ExitStack, each: Looker | Watcher) -> threading.Thread:
    thread = threading.Thread(target=each.run, daemon=True)
    thread.start()
    stack.callback(each.stopped.set)
    return thread


def _settle(scene: Scene) -> None:
    """Give what is still to be written and told its time, then let nobody look any more."""
    time.sleep(SETTLES)
    scene.looker.stopped.set()
    scene.watcher.stopped.set()


def _hear(webhook: Webhook, looker: Looker) -> None:
    for at, said in zip(webhook.times, webhook.heard, strict=False):
        text = f"{said.get('title', '')}\n{said.get('message', '')}"
        looker.shown.append(Shown(at, 0, NOTIFICATION, "", text))


def _copy(house: House, folder: Path) -> None:
    """Copy what lies in the night's folders, for whoever looks at a failure."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("state", "project"):
        shutil.copytree(
            house.world.root / name,
            folder / name,
            symlinks=True,
            ignore=_no_files,
            copy_function=_copy_file,
            dirs_exist_ok=True,
        )
    asked = [
        {
            "at": each.request.at,
            "path": each.request.path,
            "prompt": each.request.prompt[:3000],
            "answer": str(each.answer),
        }
        for each in house.server.served
    ]
    (folder / "requests.json").write_text(json.dumps(asked, indent=1))
    (folder / "screens.txt").write_text(house.screens())


def _copy_file(source: str, target: str) -> None:
    """Copy a file that may be renamed meanwhile: what is written there is put in place under another name."""
    with suppress(FileNotFoundError):
        shutil.copy2(source, target)


def _no_files(folder: str, names: list[str]) -> list[str]:
    """Name what cannot be copied: sockets and pipes."""
    return [name for name in names if (path := Path(folder, name)).is_socket() or path.is_fifo()]


def versions(night: Night) -> dict[str, str]:
    """Return which version of each CLI a night uses."""
    return {name: pins()[name].version for name in night.pins}
