"""The documents that `--json` prints, field by field: the JSON Schemas and the pages about them are made of these.

Fields may be added within a version of the program; none is renamed or removed. A test holds real output of each verb
against these, so a field that is missing here fails it.
"""
