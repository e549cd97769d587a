"""DNG: what such files state of colours, noise and opcodes, and linear ones read."""
