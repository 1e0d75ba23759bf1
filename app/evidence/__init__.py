"""What a team has measured itself: how often its spot instances were taken away."""
