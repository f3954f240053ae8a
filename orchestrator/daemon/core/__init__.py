"""What every part of the daemon shares: paths, hints, worker pools, the notifier."""
