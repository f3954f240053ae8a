"""The files of a workflow (the WF document): each read with suspicion and written back without loss."""
