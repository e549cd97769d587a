"""Files of unknown origin, decoded in a process of their own."""
