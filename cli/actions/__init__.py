"""What commands do once their options are read; loaded when they run, since libraries take long to load."""
