"""The parts of a shell script, as values."""

from __future__ import annotations

from dataclasses import dataclass, field

# Words -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Text:
    """Characters that stand for themselves. Unquoted ones may still form a pattern of file names."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name…}`.

    `operator` is what follows the name (`:-`, `%`, `#`, `/`, `:`, `[@]`, `length` for `${#name}`, …), `operand` what
    it is given. `vague`: zsh reads more of what follows as part of it than bash does.
    """

    name: str
    operator: str = ""
    operand: tuple[Part, ...] = ()
    quoted: bool = False
    vague: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(…)` or backquotes: the output of a script."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`$((…))`: a number. `names` are the variables that it names, `parts` what is replaced in it first."""

    names: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Process:
    """`<(…)` or `>(…)`: the name of a pipe from or to a script."""

    script: Script
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Escaped:
    """`$'…'`: bash and zsh replace escapes in it, dash does not. `text` is as it is written."""

    text: str
    quoted: bool = True


Part = Text | Parameter | Substitution | Arithmetic | Process | Escaped


@dataclass(frozen=True, slots=True)
class Word:
    """One word before it is expanded."""

    parts: tuple[Part, ...]

    @property
    def literal(self) -> str | None:
        """The text of a word in which nothing is expanded, or None."""
        texts = [part.text for part in self.parts if isinstance(part, Text)]
        return "".join(texts) if len(texts) == len(self.parts) else None

    @property
    def bare(self) -> str | None:
        """The text of a word of which no character is quoted and nothing is expanded, or None."""
        return None if any(part.quoted for part in self.parts) else self.literal


# Commands ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, or with `adds` `name+=value`. Of an array, `values` are its members."""

    name: str
    value: Word | None = None
    values: tuple[Word, ...] | None = None
    adds: bool = False


@dataclass(slots=True)
class HereText:
    """A text that is given in the line itself; that of a here-document is read behind the line that names it."""

    word: Word = field(default_factory=lambda: Word(()))


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirection to or from a file (`target`), or from a text (`text`). `both`: by `&>`."""

    writes: bool
    target: Word | None = None
    text: HereText | None = None
    both: bool = False


@dataclass(frozen=True, slots=True)
class Simple:
    """A program with its words. `source` is how it is written."""

    assignments: tuple[Assignment, ...] = ()
    words: tuple[Word, ...] = ()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """`{ …; }`, or with `apart` `( … )`: a script in a shell of its own."""

    body: Script
    apart: bool


@dataclass(frozen=True, slots=True)
class If:
    """Conditions with what is done if they hold; the last condition may be empty (`else`)."""

    clauses: tuple[tuple[Script, Script], ...]


@dataclass(frozen=True, slots=True)
class For:
    """A loop over words; None stands for the script's own arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Script


@dataclass(frozen=True, slots=True)
class While:
    """A loop while a condition holds, or `until` it does."""

    condition: Script
    body: Script
    until: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """What is done if a word is as one of some patterns."""

    word: Word
    clauses: tuple[tuple[tuple[Word, ...], Script], ...]


@dataclass(frozen=True, slots=True)
class Function:
    """The definition of a function. `keyword`: by `function name`, which dash runs as a command."""

    name: str
    body: Node
    keyword: bool = False


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ … ]]`: the words of each of its conditions. dash runs each of them as a command."""

    conditions: tuple[tuple[Word, ...], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """`((…))`. `first` is the first word of what dash would run as a command."""

    value: Arithmetic
    first: str


Command = Simple | Block | If | For | While | Case | Function | Test | Count


@dataclass(frozen=True, slots=True)
class Node:
    """A command with its redirections."""

    command: Command
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands of which each reads what the one ahead of it prints. `negated` by a `!`."""

    nodes: tuple[Node, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Chain:
    """Pipelines joined by `&&` and `||`: `operators` has one less than `pipelines`. `background` by a `&`."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    background: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Chains in their order."""

    chains: tuple[Chain, ...] = field(default=())
