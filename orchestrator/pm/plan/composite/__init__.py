"""Composite skills, pure: the machine of six steps, and how requests are recognised."""
