"""Who asks: a token in the header, or the session of the browser."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed


class Token(TokenAuthentication):  # type: ignore[misc]
    """`Authorization: Token …`"""

    def authenticate_credentials(self, token: bytes) -> Any:
        # A token is made of hexadecimal digits; what else was sent need not be looked up.
        if not token.isalnum():
            raise AuthenticationFailed
        return super().authenticate_credentials(token)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """The token as the OpenAPI document describes it."""

    target_class = Token
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        description = "A token made on the page “API tokens”, after the word `Token`: `Token 1234…`"
        return {"type": "apiKey", "in": "header", "name": "Authorization", "description": description}
