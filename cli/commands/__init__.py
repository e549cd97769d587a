"""What can be typed after ``demosaic-ntc``: a command per file, its options and what it says of itself."""
