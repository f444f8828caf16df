"""Importing as a supervisor does it, in a real Chromium."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Dialogue, ImportJob, JobStatus, Project, User, Utterance
from tests.conftest import People

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
GOOD = "D: How are you?\n\nP: Fine.\n"
SHOTS = os.environ.get("PORTAL_SCREENSHOTS", "")


@pytest.fixture
def page(
    chromium: Any, live_server: Any, people: People, client_for: Callable[[User], Client], request: Any
) -> Iterator[Any]:
    """A page signed in as the supervisor, that fails the test on any error in the console."""
    options = {"viewport": {"width": 1366, "height": 768}, **getattr(request, "param", {})}
    context = chromium.new_context(base_url=live_server.url, **options)
    session = client_for(people.supervisor).cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": session, "url": live_server.url}])
    page = context.new_page()
    page.set_default_timeout(15_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [text for text in said if "413" not in text and "422" not in text] == []


def shot(page: Any, name: str) -> None:
    """A picture to look at, when PORTAL_SCREENSHOTS names a folder."""
    if SHOTS:
        page.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def open_imports(page: Any, project: Project) -> None:
    page.goto(reverse("imports", args=[project.slug]))


def choose(page: Any, *paths: Path) -> None:
    page.get_by_label("Files or a zip of files").set_input_files([str(path) for path in paths])


def test_all_62_transcripts_go_in_as_one_zip(page: Any, project: Project, real_data: Path, tmp_path: Path) -> None:
    packed = tmp_path / "transcripts.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((real_data / "transcripts").glob("*.txt")):
            archive.write(path, path.name)
    open_imports(page, project)
    choose(page, packed)
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("heading", name="Nothing is imported yet").wait_for()
    assert page.locator(".figures dd").all_inner_texts()[:3] == ["62", "6581", "0"]
    assert not Dialogue.objects.exists()
    shot(page, "import-dry-run")
    page.get_by_role("button", name="Import 62 dialogues").click()
    page.get_by_role("heading", name="62 dialogues imported").wait_for()
    assert (Dialogue.objects.count(), Utterance.objects.count()) == (62, 6581)
    shot(page, "import-done")
    open_imports(page, project)
    choose(page, packed)
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("heading", name="Nothing would change").wait_for()
    assert page.locator(".figures dd").all_inner_texts()[:3] == ["0", "0", "62"]
    assert page.get_by_role("button", name="Import 62 dialogues").count() == 0
    shot(page, "import-same")
    open_imports(page, project)
    shot(page, "imports")


def test_good_and_bad_files_together_by_keyboard(page: Any, project: Project, tmp_path: Path) -> None:
    (tmp_path / "A1.txt").write_text(GOOD, encoding="utf-8")
    (tmp_path / "A2.txt").write_text("D: Hi.\nP: Hello.\nNurse: Excuse me.\n", encoding="utf-8")
    open_imports(page, project)
    choose(page, tmp_path / "A1.txt", tmp_path / "A2.txt")
    assert "A1.txt, A2.txt" in page.locator("[data-chosen]").inner_text()
    page.get_by_role("button", name="Read the files").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Error: this is left out").wait_for()
    row = page.get_by_role("row").filter(has_text="Nurse")
    assert row.get_by_role("cell").first.inner_text() == "3"
    shot(page, "import-errors")
    page.get_by_role("button", name="Import 1 dialogue").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="1 dialogue imported").wait_for()
    assert Dialogue.objects.get().external_id == "A1"


def test_files_can_be_dropped(page: Any, project: Project) -> None:
    open_imports(page, project)
    dropped = page.evaluate_handle(
        "text => { const data = new DataTransfer(); data.items.add(new File([text], 'B7.txt')); return data; }", GOOD
    )
    page.locator("[data-drop]").dispatch_event("drop", {"dataTransfer": dropped})
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("button", name="Import 1 dialogue").wait_for()
    assert ImportJob.objects.get().files[0]["name"] == "B7.txt"


def test_a_file_of_200_mb_is_refused_before_it_is_sent(page: Any, project: Project, tmp_path: Path) -> None:
    big = tmp_path / "big.txt"
    with big.open("wb") as stream:
        stream.truncate(200 * 2**20)
    open_imports(page, project)
    choose(page, big)
    assert "big.txt has 200 MiB; one file may have 20 MiB" in page.locator("#files-error").inner_text()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.get_by_role("button", name="Read the files").click()
    page.wait_for_timeout(300)
    assert "POST" not in sent
    shot(page, "import-too-large")


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_scripts_the_server_says_that_a_file_is_too_large(
    page: Any, project: Project, tmp_path: Path, settings: Any
) -> None:
    settings.PORTAL_MAX_FILE_BYTES = 2**20
    (tmp_path / "big.txt").write_bytes(b"D: Hello there.\n" * 500_000)
    open_imports(page, project)
    choose(page, tmp_path / "big.txt")
    page.get_by_role("button", name="Read the files").click()
    page.get_by_text("big.txt is larger than 1 MiB").wait_for()
    assert not ImportJob.objects.exists()
    (tmp_path / "C1.txt").write_text(GOOD, encoding="utf-8")
    choose(page, tmp_path / "C1.txt")
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("button", name="Import 1 dialogue").click()
    page.get_by_role("heading", name="1 dialogue imported").wait_for()


def test_the_progress_moves_by_itself_and_gives_way_to_the_result(page: Any, project: Project, people: People) -> None:
    counts = {"files": 1, "dialogues": 4, "utterances": 8000, "new": 4, "new_utterances": 8000, "same": 0, "clash": 0}
    report = {"counts": {**counts, "warnings": 0, "errors": 0, "notes": 0}, "dialogues": [], "files": [], "notices": []}
    job = ImportJob.objects.create(
        project=project,
        created_by=people.supervisor,
        status=JobStatus.RUNNING,
        report=report,
        options={"names": ["large.zip"]},
        files=[{"name": "large.zip", "stored": "x", "bytes": 1}],
        total=4,
        finished=1,
    )
    page.goto(reverse("import", args=[project.slug, job.pk]))
    page.get_by_text("1 of 4 new dialogues imported").wait_for()
    assert page.get_by_text("No background worker is connected").is_visible()
    shot(page, "import-no-worker")
    ImportJob.objects.filter(pk=job.pk).update(finished=3)
    page.get_by_text("3 of 4 new dialogues imported").wait_for()
    report["result"] = {"created": 4, "dialogues": 4, "utterances": 8000, "errors": 0}  # type: ignore[assignment]
    ImportJob.objects.filter(pk=job.pk).update(status=JobStatus.DONE, finished=4, report=report, files=[])
    page.get_by_role("heading", name="4 dialogues imported").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(1500)
    assert asked == []


@pytest.mark.parametrize(
    "page",
    [{"color_scheme": "dark"}, {"color_scheme": "light", "viewport": {"width": 683, "height": 384}}],
    ids=["dark", "zoomed"],
    indirect=True,
)
def test_nothing_is_wider_than_the_window_and_axe_finds_no_serious_fault(
    page: Any, project: Project, tmp_path: Path, request: Any
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    (tmp_path / "A1.txt").write_text(GOOD + "P; Odd.\n", encoding="utf-8")
    long_name = tmp_path / f"A2-{'long-' * 20}.txt"
    long_name.write_text("D: Hi.\nP: Hello.\nNurse: Excuse me.\n", encoding="utf-8")
    open_imports(page, project)
    check(page, Axe(), request.node.callspec.id)
    choose(page, tmp_path / "A1.txt", long_name)
    page.get_by_role("button", name="Read the files").click()
    page.get_by_role("button", name="Import 1 dialogue").wait_for()
    check(page, Axe(), f"{request.node.callspec.id}-dry-run")
    open_imports(page, project)
    check(page, Axe(), f"{request.node.callspec.id}-list")


def check(page: Any, axe: Any, name: str) -> None:
    shot(page, f"import-{name}")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    serious = [fault for fault in axe.run(page).response["violations"] if fault["impact"] in ("serious", "critical")]
    assert [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in serious] == []
