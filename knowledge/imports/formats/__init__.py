"""What other programs export, read in a child process into rows of one shape."""
