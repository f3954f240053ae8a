"""The folders of the user: the PM's own, the settings, the templates."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # `typing` costs as much as `pathlib`
if TYPE_CHECKING:
    from collections.abc import Mapping


APPLICATION = "agent-orchestrator"

HOME_VARIABLE = "ORCHESTRATOR_HOME"
CONFIG_VARIABLE = "ORCHESTRATOR_CONFIG"

_XDG = {
    "user_config_dir": ("XDG_CONFIG_HOME", ".config"),
    "user_state_dir": ("XDG_STATE_HOME", ".local/state"),
}


def state_folder(environ: Mapping[str, str]) -> str:
    """Return the PM's own folder: `$ORCHESTRATOR_HOME`, or the platform's place for a program's state.

    Only names it; `own_files` makes it and looks at what is there.

    Raises:
        Refused: `$ORCHESTRATOR_HOME` is not absolute.

    """
    return _absolute(environ, HOME_VARIABLE) or _platform("user_state_dir")


def config_file(environ: Mapping[str, str]) -> str:
    """Return the settings file: `$ORCHESTRATOR_CONFIG`, or `config.toml` in the user's configuration folder.

    Raises:
        Refused: `$ORCHESTRATOR_CONFIG` is not absolute.

    """
    return _absolute(environ, CONFIG_VARIABLE) or f"{_platform('user_config_dir')}/config.toml"


def templates_folder(environ: Mapping[str, str]) -> str:
    """Return the folder of the user's own task templates: `templates` beside the settings file."""
    return f"{os.path.dirname(config_file(environ))}/templates"  # noqa: PTH120 (no pathlib here)


def _absolute(environ: Mapping[str, str], variable: str) -> str:
    path = environ.get(variable, "")
    if path and not path.startswith("/"):
        raise _refused(f"{variable} is {path!a}: give an absolute path")
    return os.path.normpath(path) if path else ""


def _platform(folder: str) -> str:
    """Return what `platformdirs` says; where that is plain, without its import (16 ms)."""
    variable, usual = _XDG[folder]
    home, given = os.environ.get("HOME", ""), os.environ.get(variable, "")
    if sys.platform == "linux" and home.startswith("/") and "ANDROID_ROOT" not in os.environ:
        base = given if given.startswith("/") else f"{home.rstrip('/')}/{usual}"
        return f"{base.rstrip('/')}/{APPLICATION}"
    import platformdirs

    return str(getattr(platformdirs, folder)(APPLICATION, appauthor=False))


def _refused(message: str) -> Exception:
    from orchestrator.model.errors import Refused

    return Refused(message)
