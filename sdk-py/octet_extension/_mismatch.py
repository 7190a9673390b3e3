"""What negotiation of either wire ends in when offer and selection do not fit."""

from __future__ import annotations

__all__ = ["Mismatch"]


class Mismatch(Exception):
    """Offer and selection do not fit. error names the wire error, detail says what and why."""

    def __init__(self, error: str, detail: str) -> None:
        super().__init__(f"{error}: {detail}")
        self.error = error
        self.detail = detail
