"""The shape of the tree: what lies where, who may import whom, and what must never be in it."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = {"portal", "annotation", "umls_linker", "templates", "static", "tests", "docs", "benchmarks", ".ci"}
FILES = {
    "manage.py",
    "requirements.txt",
    "requirements-dev.txt",
    "pyproject.toml",
    "Makefile",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
    ".gitignore",
    ".pre-commit-config.yaml",
}
OPTIONAL = {"LICENSE"}
UNTRACKED = {".git", ".venv", ".data", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
# Beside the standard library, the domain reads YAML, calculates, and compares words.
DOMAIN_MAY_IMPORT = {*sys.stdlib_module_names, "yaml", "numpy", "sklearn", "scipy", "rapidfuzz"}

# Put together here, so that this file does not hold what it looks for.
UNWANTED = {
    "a path of one machine": r"(?<![\w.])/" + r"(?:work|home|root|Users)/\w",
    "a private key": "-----BEGIN " + r"[A-Z ]*PRIVATE KEY-----",
    "an access key": r"\b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9]{30,})\b",
    "a secret in the settings": r"""SECRET_KEY\s*=\s*["'][^"']""",
}


@cache
def project_files() -> tuple[Path, ...]:
    """What belongs to the project, relative to its root: as Git sees it, or all that is no cache."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-co", "--exclude-standard", "-z"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
        paths = [Path(name) for name in listed if name]
    else:
        paths = [path.relative_to(ROOT) for path in ROOT.rglob("*")]
    return tuple(path for path in paths if (ROOT / path).is_file() and not UNTRACKED & set(path.parts))


def texts() -> Iterator[tuple[Path, str]]:
    for path in project_files():
        try:
            yield path, (ROOT / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture


def imported_by(path: Path) -> set[str]:
    """Full names of the modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def python_files(*folder: str) -> list[Path]:
    return [path for path in project_files() if path.suffix == ".py" and path.parts[: len(folder)] == folder]


def test_the_top_level_holds_what_the_documents_name_and_nothing_else() -> None:
    present = {path.parts[0] for path in project_files()}
    assert present <= FOLDERS | FILES
    assert present >= (FOLDERS | FILES) - OPTIONAL


def test_the_domain_imports_neither_django_nor_anything_outside_itself() -> None:
    files = [*python_files("annotation", "domain"), *python_files("umls_linker", "domain")]
    assert len(files) > 25
    # The linker may use what the annotation has, and never the reverse.
    own = {"annotation": ("annotation.domain",), "umls_linker": ("umls_linker.domain", "annotation.domain")}
    strangers = {
        f"{path}: {name}"
        for path in files
        for name in imported_by(path)
        if name.partition(".")[0] not in DOMAIN_MAY_IMPORT and not name.startswith(own[path.parts[0]])
    }
    assert strangers == set()


def test_the_domain_can_be_used_without_django_being_loaded() -> None:
    modules = [
        ".".join(path.with_suffix("").parts)
        for app in ("annotation", "umls_linker")
        for path in python_files(app, "domain")
    ]
    script = f"import sys\nfor name in {modules!r}: __import__(name)\nprint(*[m for m in sys.modules if m == 'django'])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_the_annotation_part_never_imports_the_linker() -> None:
    users = [path for path in python_files("annotation") if any(n.startswith("umls_linker") for n in imported_by(path))]
    assert users == []


def test_services_know_nothing_of_pages_and_the_api() -> None:
    forbidden = ("annotation.views", "annotation.api", "annotation.forms", "annotation.management")
    users = [
        f"{path}: {name}"
        for path in python_files("annotation", "services")
        for name in imported_by(path)
        if name.startswith(forbidden)
    ]
    assert users == []


@pytest.mark.parametrize("what", UNWANTED)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(UNWANTED[what])
    places = [
        f"{path}:{number}: {match[0]}"
        for path, text in texts()
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert places == []


def test_no_data_key_or_library_was_put_into_the_tree() -> None:
    kinds = {".sqlite3", ".db", ".pem", ".key", ".env", ".zip", ".whl", ".pyc"}
    strays = [path for path in project_files() if path.suffix in kinds or path.name.endswith((".min.js", ".min.css"))]
    assert strays == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_every_requirement_is_pinned_to_one_release(name: str) -> None:
    lines = [line.strip() for line in (ROOT / name).read_text().splitlines()]
    loose = [
        line
        for line in lines
        if line and not line.startswith(("#", "-r ")) and not re.fullmatch(r"[\w.-]+==[\w.]+", line)
    ]
    assert loose == []


def documents() -> list[Path]:
    return [path for path in project_files() if path.suffix == ".md"]


def test_every_link_of_the_documents_leads_somewhere() -> None:
    dead = [
        f"{path}: {target}"
        for path in documents()
        for target in re.findall(r"\]\(([^)\s]+)\)", (ROOT / path).read_text(encoding="utf-8"))
        if not target.startswith(("http:", "https:", "#"))
        and not (ROOT / path.parent / target.partition("#")[0]).exists()
    ]
    assert dead == []


def test_every_make_target_that_the_documents_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {
        name for path in documents() for name in re.findall(r"\bmake ([a-z]+)\b", _code((ROOT / path).read_text()))
    }
    assert {"demo", "test"} <= named <= targets


def _code(text: str) -> str:
    """What stands in code spans and code blocks of a document."""
    return "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))


def test_every_command_of_the_portal_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = {app: [*(ROOT / app / "management/commands").glob("[a-z]*.py")] for app in ("annotation", "umls_linker")}
    assert all(commands.values())
    missing = [path.stem for paths in commands.values() for path in paths if path.stem not in readme]
    assert missing == []


def test_every_environment_variable_of_the_settings_is_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    sources = "\n".join((ROOT / "portal" / name).read_text() for name in ("settings.py", "gunicorn_conf.py"))
    variables = set(re.findall(r"""env\.\w+\(\s*["']([A-Z_]+)["']""", sources))
    assert len(variables) > 8
    assert sorted(name for name in variables if f"`{name}`" not in readme) == []
