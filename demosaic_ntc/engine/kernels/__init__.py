"""Compiled loops of the group engine: matching, guides, completion of one group, passes over many."""
