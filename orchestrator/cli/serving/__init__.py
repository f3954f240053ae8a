"""`task serve`: who may look (`access`, pure), what is shown (`page`), when there is news (`feed`), and the server."""
