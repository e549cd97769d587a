"""Measurements: baselines, metrics, the published experiments; never imported by the product."""
