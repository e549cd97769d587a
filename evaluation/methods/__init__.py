"""Ways to complete tensors, to demosaic, to inpaint and to denoise: ours, its parts, and peers."""
