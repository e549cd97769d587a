"""Raws: files of sensors read into photos, and what is known of their samples."""
