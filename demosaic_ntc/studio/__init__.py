"""A page in the browser, served from this machine alone, to paint over damage and see it repaired."""
