"""The broker and its consumers, schedules, and what is sent again when a job was lost."""
