"""`python -m orchestrator.daemon`: the daemon in the foreground."""

from __future__ import annotations

import faulthandler
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from orchestrator import __version__, layout
from orchestrator.daemon.process.preload import preload
from orchestrator.daemon.process.sd_notify import SdNotify
from orchestrator.daemon.process.upgrade import CHECK, LOCK
from orchestrator.daemon.service import Service
from orchestrator.formats.redact import redacted
from orchestrator.formats.scarcity import cause_of, is_scarce, no_thread
from orchestrator.formats.settings import load_settings
from orchestrator.formats.settings_stamp import settings_stamp
from orchestrator.formats.text import neutral
from orchestrator.model.errors import OrchestratorError

log = logging.getLogger("orchestrator.daemon")


class PlainLines(logging.Formatter):
    """Makes each record safe to look at: no secret, nothing that a terminal obeys, no line that forges another."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record; what follows its first line is indented."""
        return redacted(neutral(super().format(record))).replace("\n", "\n    ")


def main(arguments: Sequence[str]) -> int:
    """Run the daemon; its log goes to standard error.

    `--check` only names its version and the settings, once all that it needs was imported and they were read.
    `--lock-fd=N` is for a daemon that goes on in its predecessor's process.
    """
    said = logging.StreamHandler(sys.stderr)
    said.setFormatter(PlainLines("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[said])
    logging.raiseExceptions = False  # a log that takes nothing takes no word of that either
    os.umask(0o077)
    # A folder made while its parent is being looked through is told of twice, and watched once.
    warnings.filterwarnings("ignore", module="watchdog")
    faulthandler.enable()  # a watchdog ends a daemon that hangs by SIGABRT: the log then has where
    try:
        preload()
        if CHECK in arguments:
            config = Path(layout.config_file(os.environ))
            stamp = settings_stamp(config)
            load_settings(config, os.environ)
            print(f"{__version__} {stamp}")  # noqa: T201 (the one that asked reads it)
            return 0
        inherited = [int(word.removeprefix(LOCK)) for word in arguments if word.startswith(LOCK)]
        Service(os.environ, SdNotify.taken_from(os.environ), *inherited[:1]).run()
    except OrchestratorError as error:
        log.error("%s", error)  # noqa: TRY400 (one sentence for a person)
        return 1
    except OSError as error:
        if is_scarce(error):
            log.error("this machine gives too little to go on: %s", cause_of(error))  # noqa: TRY400
            return 1
        log.exception("the disk failed: nothing more is decided, start again when it is well")
        return 1
    except RuntimeError as error:
        if (scarce := no_thread(error)) is None:
            raise
        log.error("this machine gives too little to go on: %s", cause_of(scarce))  # noqa: TRY400
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
