"""The command line: arguments, progress and exit codes."""
