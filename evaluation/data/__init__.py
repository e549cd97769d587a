"""What is measured on: sets of pictures, parts of them, masks, scenes, tensors, and published figures."""
