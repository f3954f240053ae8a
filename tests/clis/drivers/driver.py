"""What the bench has to know of a CLI."""

from __future__ import annotations

from typing import Any, Protocol

from tests.clis.model_request import ModelRequest
from tests.clis.place import Place


class Driver(Protocol):
    """One CLI: its configuration, its command line, its own account of what it does."""

    @property
    def ends(self) -> str:
        """The kind of event that says that a turn is over."""

    def lay_down(self, place: Place) -> None:
        """Write the files that pre-empt every start-up dialog and make the CLI tell of itself."""

    def environ(self, place: Place) -> dict[str, str]:
        """Return what the CLI needs in its environment besides `Place.environ`."""

    def argv(self, place: Place, order: str, resume: str) -> list[str]:
        """Return the command line; `order` and the session to `resume` may be empty."""

    def go_on(self, place: Place, order: str, session: str) -> None:
        """Give a resumed session its order, where the command line could not."""

    def is_main(self, request: ModelRequest) -> bool:
        """Say whether a request to the model is part of an agent's turn."""

    def session(self, place: Place) -> str:
        """Return the id by which the first session is resumed."""

    def events(self, place: Place) -> list[dict[str, Any]]:
        """Return what the CLI told of itself so far, in order."""

    def kind(self, event: dict[str, Any]) -> str:
        """Return the CLI's own name for an event."""
