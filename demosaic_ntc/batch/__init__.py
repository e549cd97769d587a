"""Many files: planned, worked on in processes of their own, recorded one by one."""
