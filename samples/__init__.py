"""Generated inputs with their truth, and what makes them: a scene, a camera, a writer of DNG files."""
