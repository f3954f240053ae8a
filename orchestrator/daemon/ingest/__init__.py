"""Turning files into facts, once each."""
