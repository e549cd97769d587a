"""What readout and light add to the samples of a photo: banding, dark frames, flat fields."""
