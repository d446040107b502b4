"""What agents remember: knowledge, projects and tasks, and how they stand to each other."""
