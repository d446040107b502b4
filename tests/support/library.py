"""Tokens as their holders have them, and texts long enough to be taken."""

from collections.abc import Callable
from dataclasses import dataclass

from rest_framework.test import APIClient

from knowledge.access import Access
from knowledge.models import Item
from tokens.models import Token, Toolset

TOOLSETS = (Toolset.LIBRARY, Toolset.MEMORY, Toolset.REGISTRY)
"""Those of the first token of a new server."""

LONG_ENOUGH = " This sentence makes the text long enough to be taken."


@dataclass(frozen=True)
class Minted:
    """A token as its holder has it."""

    row: Token
    secret: str

    @property
    def access(self) -> Access:
        return Token.objects.get(pk=self.row.pk).access

    @property
    def client(self) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {self.secret}")
        return client


Mint = Callable[..., Minted]
Add = Callable[..., Item]
