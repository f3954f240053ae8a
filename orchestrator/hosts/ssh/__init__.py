"""Boxes over SSH."""
