"""What `task watch` asks and explains: an answer, a confirmation, a text to read. Every text is shown as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

Result = TypeVar("Result")


def plain(text: str) -> Content:
    """Return a text that no widget reads as markup."""
    return Content(text)


class _Scrolled(ModalScreen[Result]):
    """A dialog whose text scrolls if it is longer than the screen, so that what stands below it stays in sight."""

    BESIDE: ClassVar[int] = 5
    """Lines of the dialog around its text: border, title, hint."""

    def on_resize(self) -> None:
        """Give the text the room that the rest leaves."""
        self.query_one(VerticalScroll).styles.max_height = max(self.size.height - self.BESIDE, 1)


class Reader(_Scrolled[None]):
    """Lines to read and to scroll; `from_end` begins at the last ones."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter,w,question_mark", "dismiss", "Back")]

    def __init__(self, title: str, lines: Sequence[str], *, from_end: bool = False) -> None:
        super().__init__()
        self._title, self._lines, self._from_end = title, lines, from_end

    def compose(self) -> ComposeResult:
        """Show the title, the lines, and how to get back."""
        with Vertical(classes="dialog wide"):
            yield Static(plain(self._title), classes="title")
            with VerticalScroll():
                yield Static(plain("\n".join(self._lines)), id="text")
            yield Static(plain("↑ ↓ scroll, Esc back"), classes="hint")

    def on_mount(self) -> None:
        """Go to the end, where the newest stands."""
        scroll = self.query_one(VerticalScroll)
        scroll.focus()
        if self._from_end:
            self.call_after_refresh(scroll.scroll_end, animate=False)


class Confirm(ModalScreen[bool]):
    """One question that is answered by y or n; any way out but y is a no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes"),
        Binding("n,escape,q,enter", "dismiss(False)", "No"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """Show the question and its two keys."""
        with Vertical(classes="dialog"):
            yield Static(plain(self._text), id="text")
            yield Static(plain("y yes, n no"), classes="hint")


class AnswerBox(_Scrolled[str | None]):
    """A question, and a line for the answer. Gives the text, or None if the user goes back without one."""

    BESIDE: ClassVar[int] = 7
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back"),
        Binding("pageup,up", "scroll(-1)", "Up", priority=True),
        Binding("pagedown,down", "scroll(1)", "Down", priority=True),
    ]

    def __init__(self, title: str, lines: Sequence[str], *, numbered: bool) -> None:
        super().__init__()
        self._title, self._lines, self._numbered = title, lines, numbered

    def compose(self) -> ComposeResult:
        """Show the question above the line for the answer."""
        what = "the number of an option, or a text" if self._numbered else "the answer"
        with Vertical(classes="dialog wide"):
            yield Static(plain(self._title), classes="title")
            with VerticalScroll(can_focus=False):
                yield Static(plain("\n".join(self._lines)), id="text")
            yield Input(id="answer")
            yield Static(plain(f"{what}; Enter sends it, Esc goes back"), classes="hint")

    def on_mount(self) -> None:
        """Let the user type at once."""
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the answer; an empty line is none."""
        if text := event.value.strip():
            self.dismiss(text)

    def action_scroll(self, pages: int) -> None:
        """Scroll a long question while the line for the answer has the keys."""
        self.query_one(VerticalScroll).scroll_relative(y=pages * 4, animate=False)
