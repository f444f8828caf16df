"""What the documents say of the tree is so."""

from __future__ import annotations

import re
from pathlib import Path

from annotation.questionnaires import get_questionnaire

ROOT = Path(__file__).parent.parent
MAP = ROOT / "docs" / "where-code-lives.md"
PACKAGES = ("domain", "services", "views", "models", "api", "questionnaires", "management")


def named_places(text: str) -> list[str]:
    """Everything in backquotes that is a file with a folder, or a folder."""
    quoted = re.findall(r"`([\w./-]+)`", text)
    return [name for name in quoted if "/" in name and not name.startswith("/") and re.search(r"(/|\.\w+)$", name)]


def place_of(name: str) -> Path:
    """Paths of the portal's own packages are written without `annotation/`; some commands without `management/`."""
    if name.startswith(PACKAGES):
        return ROOT / "annotation" / name
    return ROOT / "annotation/management" / name if name.startswith("commands/") else ROOT / name


def test_every_room_on_the_map_exists() -> None:
    names = named_places(MAP.read_text(encoding="utf-8"))
    assert len(names) > 30
    assert [name for name in names if not place_of(name).exists()] == []


def test_every_room_stands_on_the_map() -> None:
    text = MAP.read_text(encoding="utf-8")
    folders = [
        path for parent in (ROOT, ROOT / "annotation") for path in parent.iterdir() if (path / "__init__.py").exists()
    ]
    rooms = [path.name for path in folders if path.name not in ("annotation", "migrations", "templatetags", "tests")]
    assert [name for name in rooms if f"{name}/" not in text] == []


def test_links_between_documents_lead_somewhere() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_names_that_differ_between_pages_and_interface_are_in_its_description() -> None:
    questionnaire = get_questionnaire("cmas")
    things = [("intent", one) for one in questionnaire.intents] + [("slot", one) for one in questionnaire.slots]
    other = {
        f"| {one.title} | {kind} | `{one.name}` |" for kind, one in things if one.title.lower() != one.name.lower()
    }
    lines = set((ROOT / "docs" / "api.md").read_text(encoding="utf-8").splitlines())
    assert other
    assert sorted(other - lines) == []
