"""What each kind of fact leads to."""
