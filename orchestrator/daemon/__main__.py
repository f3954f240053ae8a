"""`python -m orchestrator.daemon`: the daemon in the foreground."""

from __future__ import annotations

import argparse
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
    """Makes each record safe to show: no secret, no control characters, no line that looks like another record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text, with all lines but the first indented."""
        return redacted(neutral(super().format(record))).replace("\n", "\n    ")


def parsed(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options. Words that are none end the process before a daemon starts: help with 0, mistakes with 2."""
    parser = argparse.ArgumentParser(
        prog="python -m orchestrator.daemon",
        description="Run the daemon in the foreground; its log goes to standard error. "
        "To start it in the background, use `task daemon start`.",
        allow_abbrev=False,
    )
    parser.add_argument(
        CHECK, action="store_true", help="only import everything, read the settings, and print the version"
    )
    parser.add_argument(
        LOCK.rstrip("="),
        type=int,
        metavar="N",
        help="go on with the lock that file descriptor N holds, as a daemon does that takes over in the same process",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Run the daemon until it is told to stop; return its exit status."""
    options = parsed(arguments)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.raiseExceptions = False  # a log that cannot be written cannot report that either
    os.umask(0o077)
    # A folder made while its parent is being scanned is reported twice, and watched once.
    warnings.filterwarnings("ignore", module="watchdog")
    faulthandler.enable()  # a watchdog ends a hanging daemon by SIGABRT: the log then has its stack
    try:
        preload()
        if options.check:
            config = Path(layout.config_file(os.environ))
            stamp = settings_stamp(config)
            load_settings(config, os.environ)
            print(f"{__version__} {stamp}")  # noqa: T201 (the caller reads it)
            return 0
        Service(os.environ, SdNotify.taken_from(os.environ), options.lock_fd).run()
    except OrchestratorError as error:
        log.error("%s", error)  # noqa: TRY400 (one sentence for a person)
        return 1
    except OSError as error:
        if is_scarce(error):
            log.error("this machine lacks the resources to go on: %s", cause_of(error))  # noqa: TRY400
            return 1
        log.exception("the disk failed: no more decisions are made; start again when it works")
        return 1
    except RuntimeError as error:
        if (scarce := no_thread(error)) is None:
            raise
        log.error("this machine lacks the resources to go on: %s", cause_of(scarce))  # noqa: TRY400
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
