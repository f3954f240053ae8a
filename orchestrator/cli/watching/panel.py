"""A table on the screen whose rows can be chosen."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.style import Style
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from orchestrator.cli.watching.picture import Listing


def shown(line: str) -> Text:
    """Return a harmless line, with the colours that `screen.paint` gave it, as text that no widget reads as markup."""
    text = Text.from_ansi(line, no_wrap=True, overflow="ellipsis", end="")
    return text if text.plain else Text(" ")


class Rows(OptionList):
    """The rows of a panel. A row stays chosen while rows come and go around it."""

    def __init__(self, name: str) -> None:
        super().__init__(id=f"{name}-rows", markup=False)
        self._listing = Listing()

    @property
    def chosen(self) -> str:
        """The key of the row that is chosen; empty if there is no row."""
        rows, place = self._listing.rows, self.highlighted
        return rows[place].key if place is not None and place < len(rows) else ""

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        """Return the style of a row. Textual 8.2 leaves `reverse` out of it, by which the chosen row is marked."""
        style = super().get_visual_style(*component_classes, partial=partial)
        reverse = any(self.get_component_styles(name).text_style.reverse for name in component_classes)
        return style + Style(reverse=True) if reverse else style

    def show(self, listing: Listing) -> None:
        """Show a listing; touch only what differs."""
        key, at = self.chosen, self.highlighted
        before, self._listing = self._listing, listing
        old, new = before.rows, listing.rows
        if [row.key for row in old] == [row.key for row in new]:
            for place, (was, row) in enumerate(zip(old, new, strict=True)):
                if was.text != row.text:
                    self.replace_option_prompt_at_index(place, shown(row.text))
            return
        self.set_options([Option(shown(row.text)) for row in new])
        keys = [row.key for row in new]
        if keys:
            self.highlighted = keys.index(key) if key in keys else min(at or 0, len(keys) - 1)


class Panel(Vertical):
    """A heading above rows."""

    def __init__(self, name: str) -> None:
        super().__init__(id=name)
        self.rows = Rows(name)
        self._heading = Static(markup=False, classes="heading")
        self._said = ""

    def compose(self) -> ComposeResult:
        """Show the heading above the rows."""
        yield self._heading
        yield self.rows

    def show(self, listing: Listing) -> None:
        """Show a listing."""
        if listing.heading != self._said:
            self._said = listing.heading
            self._heading.update(shown(listing.heading))
        self.rows.show(listing)
