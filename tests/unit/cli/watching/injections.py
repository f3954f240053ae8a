"""Texts that would do something if a terminal, Rich or Textual read them as more than text."""

SIGNS = [
    chr(code)
    for code in (*range(0x01, 0x20), 0x7F, *range(0x80, 0xA0), 0x200B, 0x200E, 0x202E, 0x2066, 0xFEFF)
]
SEQUENCES = [
    "\x1b]52;c;ZWNobyBo\x07",  # the clipboard
    "\x1b]0;title\x07",
    "\x1b]8;;http://example.org\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x1b[?1049l",  # leave the other screen
    "\x1b[31;5mred\x1b[0m",
    "\x1b[31mred",
    "\x1b[6n",  # where is the cursor: the terminal would type the answer
    '\x1bP$q"p\x1b\\',
    "\x1b_Gf=100;AAAA\x1b\\",
    "\x1b[201~",
    "\x9b31m",
    "\x1bc",
    "a\x08\x08b",
]
MARKUP = [
    "[bold]x[/bold]",
    "[/]",
    "[/bold]",
    "[red]",
    "[@click=app.quit]here[/]",
    "[@click='app.action_stop()']here[/@click]",
    "[link=http://example.org]x[/link]",
    "[on red]x",
    "[$error]x[/]",
    "[b][i][u]",
    "\\[bold]x",
    "[[bold]]",
    "[bold",
    "bold]",
    "[]",
    "[reverse blink]x[/reverse blink]",
    ":warning: :smile:",
    "$foreground {x} %s {0}",
    "`code` **bold** <b>html</b> <script>alert(1)</script>",
    "#{pane_id} #(id)",
]
INJECTIONS = [*(f"a{sign}b" for sign in SIGNS), *SEQUENCES, *MARKUP, "w" * 5000, "漢" * 300, "e\u0301" * 900]
NUMBERS = [f"text{n}" for n in range(len(INJECTIONS))]
