"""What can go wrong and be put right by a person.

TidyError
├── OrderError      the environment is not that of a run
├── ArtifactError   what an earlier step should have written is missing or garbled
├── GitError        git refused
└── LinterError     ruff refused
"""

from __future__ import annotations


class TidyError(Exception):
    """Something that a person can put right; the message says what was wrong and what to do."""


class OrderError(TidyError):
    """The environment is not that of a run of the daemon."""


class ArtifactError(TidyError):
    """A file that an earlier step writes is missing, or does not say what it should."""


class GitError(TidyError):
    """A git command failed."""


class LinterError(TidyError):
    """Ruff could not do what it was asked."""
