"""What is seen and painted on: pictures in levels and tiles, masks, strokes, boxes."""
