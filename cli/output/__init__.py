"""What commands say and show, for people or as JSON."""
