"""A tool call that an agent asks permission for, where it would run, and how it is judged."""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.model.permission import Act, PermissionDecision


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One tool call that an agent asks permission for.

    `paths` are absolute, links followed; `inside` says that each lies in a folder that the run was granted. `command`
    is the shell text of a RUN, or the address of a FETCH; `cwd` is where a RUN would begin. `held`: the program itself
    holds what the rules leave open: by a sandbox of its own, or with `again` as it asks once more about what it does
    not let pass.
    """

    tool: str
    act: Act
    paths: tuple[str, ...] = ()
    command: str = ""
    inside: bool = False
    cwd: str = ""
    held: bool = False
    again: bool = False


@dataclass(frozen=True, slots=True)
class Workplace:
    """What is known of the place in which a run works. All paths are absolute, with their links followed.

    Attributes:
        grants: The folders that it may write, the one in which it works first.
        temporary: Folders for temporary files, in which it may write as well.
        withheld: Folders that lie in `temporary` and are not for that: the PM's own, the user's home, the project.
        private: Folders that are the PM's own; outside `grants` nothing in them is written.
        home: The home of the user as whom it runs; empty if that is not known.
        own_tree: Its workspace is a worktree of the task's, which nobody else works in.
        top: The top folder of the repository that it works in; empty if that is not known.
        variables: Variables of its environment, with their values, as far as they are known.

    """

    grants: tuple[str, ...]
    temporary: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    home: str = ""
    own_tree: bool = False
    top: str = ""
    variables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a wish was judged, and why in words that its user understands.

    Where a person is to be asked, no answer for `wait` seconds is a denial. `passes`: nothing is said to the program,
    so that it holds the wish by its own means [ToolRequest.held].
    """

    decision: PermissionDecision
    why: str
    wait: float = 1800.0
    passes: bool = False
