"""How the screen of `task watch` is laid out, and what its keys do. Colours are the 16 of the terminal."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
Screen { layout: vertical; }
#head { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
#said { height: auto; min-height: 1; max-height: 3; }
#head { text-style: bold; }
#head.down { color: ansi_red; }
Panel { height: auto; }
.heading { height: 1; text-style: underline; text-wrap: nowrap; }
Panel:focus-within .heading, #details:focus { text-style: bold; }
Panel:focus-within .heading { text-style: bold reverse; }
Rows, Rows:focus { border: none; padding: 0; background: ansi_default; height: auto; scrollbar-size-vertical: 1; }
Rows > .option-list--option { padding: 0; }
Rows > .option-list--option-highlighted { text-style: bold; color: ansi_default; background: ansi_default; }
Rows:focus > .option-list--option-highlighted { text-style: reverse; color: ansi_default; background: ansi_default; }
#tasks Rows { max-height: 4; }
#questions Rows { max-height: 3; }
#agents Rows { max-height: 4; }
#steps { height: 1fr; min-height: 3; }
#steps Rows { height: 1fr; }
#details { height: 1fr; min-height: 3; border-top: solid ansi_default; scrollbar-size-vertical: 1; }
.hidden { display: none; }
Panel.zoomed { height: auto; max-height: 50%; }
Panel.zoomed Rows { height: auto; max-height: 100%; }
ModalScreen { align: center middle; background: ansi_default; }
.dialog { width: 76; max-width: 100%; height: auto; max-height: 100%; border: solid ansi_default; padding: 0 1; }
.dialog.wide { width: 100%; }
.dialog VerticalScroll { height: auto; scrollbar-size-vertical: 1; }
.title { text-style: bold; }
.hint { color: ansi_default; margin-top: 1; }
Input, Input:focus { border: none; height: 1; padding: 0; margin-top: 1; text-style: underline; }
Input, Input:focus { background: ansi_default; }
"""

HELP: Final = """\
Tab, Shift-Tab  the next part: tasks, questions, steps, agents, details
↑ ↓ PgUp PgDn   choose a row; all below is about the chosen task
Enter           on a question: answer it
a               answer the chosen question; elsewhere the task's first one
t               attach to the chosen agent's window in tmux (back: Ctrl-B d)
w               why the PM did what it did: about the chosen step or agent
c               let the PM check the chosen task now
s               stop the chosen task and its agents (asks before)
z               this part and its details alone on the screen, and back
q               end; tasks and agents go on

The graph: * passed, > at work, o pending, ! blocked, x failed, - set aside.
Lines lead from a step down to those that need it."""
