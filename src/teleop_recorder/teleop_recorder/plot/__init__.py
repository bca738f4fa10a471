"""Takes drawn: as a picture, and as a page."""
