"""Taking back what a token wrote."""
