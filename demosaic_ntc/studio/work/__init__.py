"""What worker processes do for a studio: open pictures, repair regions, propose masks, preview raws."""
