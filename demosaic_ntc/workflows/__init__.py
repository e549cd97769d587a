"""Whole tasks on files: a raw converted, a picture repaired, what they cost, and the same from Python."""
