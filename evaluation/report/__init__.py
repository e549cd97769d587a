"""Results as tables, drawings and pages."""
