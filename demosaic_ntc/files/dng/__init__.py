"""DNG: what such files state of colours and noise, and linear ones written."""
