"""How Textual takes the terminal over with the first frame on it, and without a flicker."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver

from orchestrator.cli.watching.early_screen import ENTER, EarlyScreen


def driver_for(screen: EarlyScreen) -> type[LinuxDriver]:
    """Return Textual's driver for a terminal that is `screen` until the driver starts."""

    class Takeover(LinuxDriver):
        def start_application_mode(self) -> None:
            super().start_application_mode()  # type: ignore[no-untyped-call]
            self.attrs_before = screen.before  # not those in which keys waited
            screen.take()

        def write(self, data: str) -> None:
            if data == ENTER and screen.painted and not screen.taken:
                return  # some terminals would clear the first frame away
            super().write(data)

    return Takeover
