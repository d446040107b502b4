"""Items and folders: reading, filing, editing and removing them."""
