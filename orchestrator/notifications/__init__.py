"""Telling people: the spool of news, what goes when, and the ways out."""
