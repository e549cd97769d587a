"""Detection: dead pixels of a sensor, dust and scratches, lateral chromatic aberration."""
