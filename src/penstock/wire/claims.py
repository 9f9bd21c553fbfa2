"""Events that bodies name. Patterns match a JSON body as the event it names, so its publisher needs that permission."""

from penstock.auth.authorizer import Authorizer
from penstock.core.patterns import event_claimed_by, may_claim_event


def check_claim(authorizer: Authorizer, event: bytes, body: bytes) -> None:
    """Raises Refused when patterns would match a message as an event that its user may not publish."""
    if not may_claim_event(body) or authorizer.may_publish_all():
        return
    claimed = event_claimed_by(body)
    if claimed is not None and claimed != event:
        authorizer.check_claimed(claimed)
