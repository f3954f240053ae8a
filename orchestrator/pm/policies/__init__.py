"""What happens when work goes well or badly: gates, retries, limits, and who is asked."""
