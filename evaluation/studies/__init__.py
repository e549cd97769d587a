"""What one method does by itself: blemishes and defects found, looks, widths of holes, the studio."""
