"""The loop, and what a task does about each hint."""

from orchestrator.daemon.loop.turns import Loop

__all__ = ["Loop"]
