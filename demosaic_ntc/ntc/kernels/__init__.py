"""Every compiled loop of this layer: arrays and scalars in, arrays out, no policy."""
