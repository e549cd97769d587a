"""What is particular to holes: their kinds, the regions around them, and their first fill."""
