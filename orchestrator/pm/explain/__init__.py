"""Journal lines as sentences that people understand."""
