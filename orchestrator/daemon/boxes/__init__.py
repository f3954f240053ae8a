"""The machines over SSH: a monitor for each, and the transfer of files from them."""
