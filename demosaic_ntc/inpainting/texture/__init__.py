"""Wide holes filled with texture of the picture itself: patches searched, voted, and copied by labels."""
