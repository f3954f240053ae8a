"""What the source text says of a class and of its fields: the text under each, or the comment behind it."""

from __future__ import annotations

import ast
import inspect
import io
import textwrap
import tokenize


def summary(of: type) -> str:
    """Return the first paragraph of a class's docstring on one line."""
    return joined(inspect.getdoc(of) or "").partition("\n")[0]


def meanings(of: type) -> dict[str, str]:
    """Return what stands under each field or member of a class, or else behind it as a comment.

    Each text is one line for each of its paragraphs. Those that have neither are left out.
    """
    source = textwrap.dedent(inspect.getsource(of))
    (made,) = ast.parse(source).body
    if not isinstance(made, ast.ClassDef):
        raise TypeError(f"{of} is no class")
    comments = _comments(source)
    said: dict[str, str] = {}
    last = ""
    for node in made.body:
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                last = name
                if text := comments.get(node.end_lineno or 0):
                    said[name] = text
            case ast.Expr(value=ast.Constant(value=str(text))) if last:
                said[last] = joined(inspect.cleandoc(text))
            case _:
                last = ""
    return said


def joined(text: str) -> str:
    """Return a text with each of its paragraphs on one line."""
    return "\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _comments(source: str) -> dict[int, str]:
    """Return the comments by line, but for those that are meant for a tool."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokens
        if token.type == tokenize.COMMENT and not token.string.startswith(("# noqa", "# type:"))
    }
