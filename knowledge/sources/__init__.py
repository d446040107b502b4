"""Where contents come from: links, recordings and files, each read into the same shape."""
