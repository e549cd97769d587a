"""Files: raws and pictures in, pictures out, and never half of one."""
