"""The files of composite skills: configuration, state, memory, and the rules for domains."""
