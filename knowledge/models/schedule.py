from django.db import models


class Schedule(models.Model):
    """When a sweep last ran, so that whoever takes the scheduler over does not repeat it."""

    name = models.CharField(max_length=100, primary_key=True)
    last_run_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
