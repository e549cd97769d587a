"""Inpainting: holes classified, filled smoothly, then restored by groups."""
