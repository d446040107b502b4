"""Invitations: one-time links by which people get in, or back in."""

import hashlib
import logging
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.models import Invitation
from knowledge.errors import InvalidInput, NotFound

logger = logging.getLogger(__name__)

LIVES_DAYS = 7
MOST_DAYS = 90


def invite(
    made_by: User | None,
    *,
    email: str = "",
    is_admin: bool = False,
    person: User | None = None,
    days: int = LIVES_DAYS,
) -> tuple[Invitation, str]:
    """A new invitation and the path of its link, which is shown this once."""
    if not 1 <= days <= MOST_DAYS:
        raise InvalidInput(f"days must be between 1 and {MOST_DAYS}.", field="days")
    if email:
        try:
            validate_email(email)
        except ValidationError:
            raise InvalidInput("This is no mail address.", field="email") from None
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        digest=_digest(secret),
        email=email,
        is_admin=is_admin,
        person=person,
        made_by=made_by,
        expires_at=timezone.now() + timedelta(days=days),
    )
    return invitation, reverse("account_invitation", args=[secret])


def find_open(secret: str) -> Invitation:
    """The invitation that this link still opens; used, expired and unknown ones are alike."""
    found = Invitation.objects.filter(digest=_digest(secret)).select_related("person").first()
    if found is None or found.state != "open":
        raise NotFound("This link was used before, or is too old. Ask for a new one.")
    return found


@transaction.atomic
def accept(secret: str, *, username: str, password: str) -> User:
    """Make the account that the link is for, or set its password; the link is used up by it."""
    invitation = find_open(secret)
    # Of two who open the same link at once, one waits here and then finds it used.
    Invitation.objects.select_for_update().get(pk=invitation.pk)
    invitation = find_open(secret)
    person = invitation.person or User(username=username, email=invitation.email)
    try:
        validate_password(password, person)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), field="password") from None
    person.set_password(password)
    if invitation.person is None:
        if User.objects.filter(username__iexact=username).exists():
            raise InvalidInput("This name is taken; choose another.", field="username")
        person.is_staff = person.is_superuser = invitation.is_admin
        try:
            person.full_clean()
        except ValidationError as error:
            field, messages = next(iter(error.message_dict.items()))
            raise InvalidInput(" ".join(messages), field=field) from None
    person.save()
    invitation.used_at = timezone.now()
    invitation.save(update_fields=["used_at"])
    return person


def can_mail() -> bool:
    return bool(settings.EMAIL_SERVER)


def mail_link(email: str, link: str) -> bool:
    """Send somebody their link, if a mail server is configured and takes it."""
    if not can_mail():
        return False
    try:
        send_mail(
            "Your invitation to Quarry",
            f"Open this link to set your name and password. It works once.\n\n{link}\n",
            None,
            [email],
        )
    except OSError as error:
        logger.error("An invitation could not be mailed: %s", error)
        return False
    return True


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
