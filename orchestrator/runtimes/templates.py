"""Where task templates are found: the user's own before those that ship."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from orchestrator import layout
from orchestrator.model.errors import Refused
from orchestrator.model.names import checked_name
from orchestrator.shipped import shipped


def template_roots(folders: Sequence[str], environ: Mapping[str, str]) -> list[Path]:
    """Return the folders in which templates are looked for, first things first.

    Args:
        folders: the setting `templates.folders`; `~` is the user's home.
        environ: tells where the user's own templates lie.

    """
    own = [Path(folder).expanduser() for folder in folders]
    return [*own, Path(layout.templates_folder(environ)), shipped("tasks")]


def template_folder(name: str, folders: Sequence[str], environ: Mapping[str, str]) -> Path:
    """Return the folder of the template `name`.

    Raises:
        BadName: that cannot be the name of one.
        Refused: there is none of that name.

    """
    known = checked_name(name, "template name")
    for root in template_roots(folders, environ):
        if (root / known / "task.md").is_file():
            return root / known
    raise Refused(f"there is no template {known}: `task templates` shows what there is")
