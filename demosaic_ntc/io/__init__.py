"""What every file needs: identification, tags, EXIF, colour spaces, files that appear whole or not at all."""
