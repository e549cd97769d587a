"""Cases, one after the other, and what each took and gave."""
