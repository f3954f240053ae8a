"""The scribe: progress.md, from what lies on disk and what the PM says (H11)."""
