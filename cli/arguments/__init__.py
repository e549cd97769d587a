"""Options: how they are named and shared, how their values are read, and how help shows them."""
