"""Helpers for tests that drive Chromium."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests import factory

SIZE = {"width": 1366, "height": 768}


def sign_in(chromium: Any, live_server: Any, username: str, **context: Any) -> Page:
    """A page of a fresh browser context in which this person is signed in."""
    page = chromium.new_context(**{"viewport": SIZE, **context}).new_page()
    page.goto(f"{live_server.url}/sign-in/")
    page.fill("input[name=username]", username)
    page.fill("input[name=password]", factory.PASSWORD)
    page.press("input[name=password]", "Enter")
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    return page
