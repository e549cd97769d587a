"""The engine: groups of similar patches, predicted and added up; knows no colour arrays and no files."""
