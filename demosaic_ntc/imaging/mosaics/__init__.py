"""What is particular to mosaics: the first estimate, blended in tiles."""
