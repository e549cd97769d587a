"""What one method does by itself: blemishes, defects, banding found, looks, widths, costs, the studio."""
