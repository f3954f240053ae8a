"""What runs in processes of its own and never in the daemon's: apprise takes 30 MB, and a channel may hang."""
