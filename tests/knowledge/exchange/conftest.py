import pytest
from django.contrib.auth.models import User


@pytest.fixture
def owner(owner: User) -> User:
    """Somebody whose imports keep the archive's ids."""
    owner.is_superuser = True
    owner.save(update_fields=["is_superuser"])
    return owner
