"""Images: finished or damaged ones in and out of files, and masks of their damage."""
