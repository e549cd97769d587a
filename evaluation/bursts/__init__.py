"""Merging of frames measured: made bursts with their truth, simpler ways, gains, brackets, and costs."""
