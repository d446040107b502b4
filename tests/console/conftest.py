import pytest
from django.contrib.auth.models import User
from django.test import Client


@pytest.fixture
def visitor(owner: User) -> Client:
    """The owner `ada` in person, signed in; `library` and `add` are of the same library."""
    client = Client()
    client.force_login(owner)
    return client


@pytest.fixture
def other_visitor(stranger: User) -> Client:
    """`eve`, who has a library of her own."""
    client = Client()
    client.force_login(stranger)
    return client
