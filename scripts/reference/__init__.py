"""Writes what can be read off the code: the pages of `docs/reference`, the JSON Schemas and the manual pages.

`scripts/docs reference` runs it. What it makes is committed, and a test holds that it is fresh.
"""
