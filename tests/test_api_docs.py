from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml
from django.core.management import call_command
from django.test import Client
from django.urls import URLPattern

from annotation.api.urls import urlpatterns
from tests.api import document

PUBLIC = {"schema", "api-docs"}


def test_the_document_is_valid_and_complete_without_a_warning(tmp_path: Path) -> None:
    target = tmp_path / "schema.yml"
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(target))
    assert yaml.safe_load(target.read_text())["openapi"].startswith("3.")


def test_every_route_is_in_the_document() -> None:
    routes = {str(row.pattern) for row in urlpatterns if isinstance(row, URLPattern) and row.name not in PUBLIC}
    named = {"/api/" + _plain(route) for route in routes if route.startswith("v1/")}
    assert named == {_plain(path) for path in document()["paths"]}


def _plain(route: str) -> str:
    """A path with `{}` in the place of each parameter."""
    parts = ["{}" if part[:1] in "<{" else part for part in route.split("/") if part or route == "/"]
    return ("/" if route.startswith("/") else "") + "/".join(parts) + "/"


def test_every_operation_is_described_and_documents_its_refusals() -> None:
    for path, operations in document()["paths"].items():
        for method in operations.keys() - {"parameters"}:
            operation = operations[method]
            assert operation["description"], f"{method} {path}"
            assert "401" in operation["responses"], f"{method} {path}"
            if "{" in path and "questionnaires" not in path:
                assert {"403", "404"} <= set(operation["responses"]), f"{method} {path}"


def test_names_of_operations_are_unique() -> None:
    names = [operation["operationId"] for row in document()["paths"].values() for operation in row.values()]
    assert len(set(names)) == len(names)


@pytest.mark.django_db
def test_the_document_and_its_page_need_no_sign_in() -> None:
    client = Client()
    assert client.get("/api/schema/", headers={"Accept": "application/json"}).json()["info"]["title"] == "Anamnesis"
    page = client.get("/api/docs/")
    assert page.status_code == 200
    assert b"<style" not in page.content
    assert b"<script>" not in page.content


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_page_renders_without_the_internet_and_breaks_no_policy(chromium: Any, live_server: Any) -> None:
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    page = context.new_page()
    said: list[str] = []
    hosts: set[str] = set()
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc or urlsplit(request.url).scheme))
    page.goto(f"{live_server.url}/api/docs/")
    page.locator(".opblock").first.wait_for()
    count = sum(len(row) for row in document()["paths"].values())
    assert page.locator(".opblock").count() == count
    page.get_by_text("/api/v1/label-sets/{id}/changes/").click()
    page.get_by_text("Example Value").first.wait_for()
    assert said == []
    assert hosts <= {urlsplit(live_server.url).netloc, "data"}
    context.close()
