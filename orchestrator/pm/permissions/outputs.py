"""What a command prints, where its output becomes words: paths below a folder, plain names, numbers, or a known text.

Any other output is unknown. A command is judged where it runs; this module only determines its output.
"""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.formats.shell.tree import Node, Pipeline, Script, Simple
from orchestrator.model.tool_request import Workplace
from orchestrator.pm.permissions.expanding import Expander
from orchestrator.pm.permissions.fields import ANYTHING, TOKEN, Field
from orchestrator.pm.permissions.matching import plain_name
from orchestrator.pm.permissions.paths import resolved
from orchestrator.pm.permissions.printing import IGNORES, git_prints, passed_on, printed
from orchestrator.pm.permissions.scope import Scope


class Outputs:
    """Returns what scripts print. It judges nothing."""

    def __init__(self, workplace: Workplace) -> None:
        self.workplace = workplace
        self.expander = Expander(workplace, self.of)
        self._asked = 0

    def of(self, script: Script, scope: Scope) -> tuple[str, ...]:
        """Return the possible outputs of a script, without the line ends after them."""
        self._asked += 1
        if self._asked > 200 or len(script.chains) != 1:  # noqa: PLR2004 (a script nested in scripts asks often)
            return (ANYTHING,)
        chain = script.chains[0]
        texts = list[str]()
        for at, pipeline in enumerate(chain.pipelines):
            operator = chain.operators[at] if at < len(chain.operators) else ""
            if operator == "&&":
                scope = self._entered(pipeline, scope)
            elif not at or chain.operators[at - 1] == "||" or not operator:
                texts.append(self.of_pipeline(pipeline.nodes, scope))
        silent = all(self._is_silent(each, scope) for each in self._joined(chain.pipelines, chain.operators))
        return tuple(dict.fromkeys(texts)) if texts and silent else (ANYTHING,)

    def of_pipeline(self, nodes: Sequence[Node], scope: Scope) -> str:
        """Return what the last of some commands prints, each of which reads the output of the one before it."""
        text = ANYTHING
        for at, node in enumerate(nodes):
            fields = self._fields(node, scope)
            if not fields:
                return ANYTHING
            reads = at and plain_name(fields[0].text) not in IGNORES
            text = passed_on(fields, text) if reads else self._printed(node, fields, scope)
        return text

    # -------------------------------------------------------------------------------------------------

    def _joined(self, pipelines: Sequence[Pipeline], operators: Sequence[str]) -> list[Pipeline]:
        """Return the pipelines before a `&&`: their output comes before the rest."""
        return [
            pipeline for pipeline, operator in zip(pipelines, operators, strict=False) if operator == "&&"
        ]

    def _is_silent(self, pipeline: Pipeline, scope: Scope) -> bool:
        fields = self._fields(pipeline.nodes[0], scope)
        return len(pipeline.nodes) == 1 and fields[:1] in {(Field("cd"),), (Field("test"),), (Field("true"),)}

    def _entered(self, pipeline: Pipeline, scope: Scope) -> Scope:
        fields = self._fields(pipeline.nodes[0], scope)
        if fields[:1] != (Field("cd"),):
            return scope
        target = fields[1].text if len(fields) == 2 else ""  # noqa: PLR2004 (`cd` and where to)
        return scope.moved(resolved(target, place) if target else "" for place in scope.places)

    def _fields(self, node: Node, scope: Scope) -> tuple[Field, ...]:
        """Return the words of a plain command; empty if there are several possibilities."""
        command = node.command
        if not isinstance(command, Simple) or any(
            each.writes and each.target is not None and each.target.literal != "/dev/null"
            for each in node.redirects
        ):
            return ()
        choices = self.expander.choices(command.words, scope)
        return choices[0] if len(choices) == 1 and not any(each.tilde for each in choices[0]) else ()

    def _printed(self, node: Node, fields: Sequence[Field], scope: Scope) -> str:
        """Return what a command prints that reads nothing, or ignores what it reads."""
        name, rest = plain_name(fields[0].text), fields[1:]
        if (plainly := printed(name, rest)) is not None:
            return plainly
        match name:
            case "cat" if not rest and len(node.redirects) == 1 and node.redirects[0].text:
                texts = self.expander.texts(node.redirects[0].text.word, scope)
                return texts[0].rstrip("\n") if len(texts) == 1 else ANYTHING
            case "pwd":
                return next(iter(scope.places)) or ANYTHING if len(scope.places) == 1 else ANYTHING
            case "mktemp":
                return self._temporary(rest)
            case "git":
                return git_prints(rest, self.workplace.top)
            case _:
                return ANYTHING

    def _temporary(self, rest: Sequence[Field]) -> str:
        """Return what `mktemp` makes: a file in a folder for temporary files, or as its template says."""
        place = next((path for path in self.workplace.temporary), "")
        template = [each for each in rest if not each.option]
        if any(not each.certain for each in rest) or any(
            each.text.startswith(("-p", "--tmpdir=")) for each in rest
        ):
            return ANYTHING
        if template and not any(each.text == "-t" for each in rest):
            return template[0].text.replace("X", "") + TOKEN
        return f"{place}/{TOKEN}" if place else ANYTHING
