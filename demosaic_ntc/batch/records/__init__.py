"""What is known of files from one run to the next: the report, results, what is still to be done."""
