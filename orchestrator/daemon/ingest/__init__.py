"""What files tell becomes facts, once each."""
