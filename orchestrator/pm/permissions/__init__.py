"""Judging what an agent asks leave for: allow, deny, or have a person asked.

A guard-rail for agents that mean well, not a sandbox: an allowed `pytest` runs what the agent wrote, and no reading of
a command line can tell what that does. Where that is not enough, set up a boundary:
docs/explanation/security-boundaries.md.

The user's rules come first: one that denies wins everywhere, then one that asks, then one that allows. What no rule
speaks of is judged by the built-in defaults [defaults.py], and what these leave open by the policy's `otherwise`.
A command line that cannot be split with certainty is never allowed, and denied where a denied command may stand in it.
"""

from __future__ import annotations

from orchestrator.pm.permissions.judging import judge, policy_for

__all__ = ["judge", "policy_for"]
