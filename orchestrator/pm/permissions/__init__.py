"""Judging an agent's permission requests: allow, deny, or ask a person.

This is a guard-rail for well-meaning agents, not a sandbox: an allowed `pytest` runs whatever the agent wrote, and no
analysis of a command line can show what that does. If that is not enough, set up a boundary:
docs/explanation/security-boundaries.md.

The user's rules come first: one that denies wins everywhere, then one that asks, then one that allows. Requests that
no rule covers are judged by the built-in defaults [defaults/], and what these leave open by the policy's `otherwise`.
A command line that cannot be split with certainty is never allowed, and denied if it may contain a denied command.
"""

from __future__ import annotations

from orchestrator.pm.permissions.judging import judge, policy_for

__all__ = ["judge", "policy_for"]
