"""All files that agents write on boxes are brought here, though no report names them and the run ends at once."""

from __future__ import annotations

from orchestrator import layout
from orchestrator.testing.fake_box import under
from tests.simulation.engine.agents import UNNAMED
from tests.simulation.engine.audit import Audit
from tests.simulation.engine.law import Finding, Law
from tests.simulation.engine.user_task import UserTask
from tests.simulation.engine.world import World


def left_there(world: World, user_task: UserTask, audit: Audit) -> list[Finding]:
    """Return the artifacts of ended runs that lie on a box alone, and for which the daemon does not wait any more."""
    found = list[Finding]()
    for box in world.boxes.values():
        shared = layout.task_folder(box.place, user_task.name)
        for path in under(box.files, layout.artifacts(shared)):
            run, here = audit.state.runs.get(path.stem), user_task.folder / path.relative_to(shared)
            if path.suffix != UNNAMED or run is None or run.live:
                continue
            mark = layout.run_outstanding(layout.run_home(user_task.home, run.id))
            if world.files.entry(here) is None and world.files.entry(mark) is None:
                found.append(
                    Finding(
                        Law.BROUGHT,
                        f"{here.name} lies on {box.name} alone, and the daemon does not wait for it",
                    )
                )
    return found
