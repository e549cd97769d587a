"""Developing: from a photo to finished pixels; the engine's run, noise, look and rendering."""
