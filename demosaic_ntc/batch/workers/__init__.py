"""Those who do the work: processes of this machine or workers of a cluster, watched and replaced."""
