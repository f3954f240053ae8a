"""The machines over SSH: one monitor for each, and what is pulled from them."""
