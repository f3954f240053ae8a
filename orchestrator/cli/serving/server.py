"""The process of `task serve`: a socket on loopback, and the server on it until the user ends it."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.serving.access import Access
from orchestrator.cli.serving.app import app_of

LOOPBACK: Final = "127.0.0.1"
"""Never another address: who is elsewhere forwards a port over SSH."""

_CONNECTIONS: Final = 64
_GOODBYE: Final = 1
"""Seconds that connections have to end."""


def serve(state: str, port: int) -> None:
    """Serve the tasks of a state folder until SIGINT or SIGTERM; say on standard output where.

    Args:
        state: the folder of the PM.
        port: the port on loopback; 0 for a free one.

    Raises:
        CommandError: the port cannot be had.

    """
    try:
        listener = socket.create_server((LOOPBACK, port))
    except OSError as error:
        raise CommandError(
            Exit.FAILED,
            f"port {port} cannot be had ({error.strerror}): choose another by --port, or 0 for a free one",
        ) from error
    access, port = Access(), listener.getsockname()[1]
    with listener:
        print(
            f"http://{LOOPBACK}:{port}{access.root}?token={access.token}\n"
            f"elsewhere: `ssh -N -L {port}:{LOOPBACK}:{port} THIS-MACHINE` there, then the same address\n"
            "who has the address sees all tasks and can answer their questions; Ctrl-C ends it",
            flush=True,
        )
        server = uvicorn.Server(_config(app_of(state, access, lambda: server.should_exit)))
        with suppress(KeyboardInterrupt):  # uvicorn ends in good order, and then raises the signal again
            server.run(sockets=[listener])


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,  # it would show the token
        proxy_headers=False,  # whoever asks could say that he is somebody else
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_GOODBYE,
    )
