"""Developing: from a photo to finished pixels: preprocessing, noise, tone and rendering; linear DNGs."""
