"""The PM daemon: facts come in, one thread decides in order, the journal is written first, then it acts."""
