"""Opcodes: what a DNG states is to be done to its pixels, read, and done."""
