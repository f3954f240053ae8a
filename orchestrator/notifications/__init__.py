"""Notifying people: the spool of notifications, the policy of what is sent when, and the senders."""
