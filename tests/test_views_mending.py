"""Where somebody arrives who came to mend what an export lacks: what is to be done is said, and by whom."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from annotation.models import LabelSet, Membership, Project, Role
from tests import factory
from tests.conftest import People
from tests.exporting import make_gold
from tests.qualifying import make_exam


def test_who_may_not_decide_on_concepts_reads_who_may(client_for: Any, project: Project, people: People) -> None:
    address = reverse("concepts", args=[project.slug])
    text = client_for(people.supervisor).get(address).content.decode()
    assert f"Only doctors decide on concepts. Doctors of this project: {people.doctor.display_name}." in text
    assert "Only doctors decide" not in client_for(people.doctor).get(address).content.decode()
    Membership.objects.filter(project=project, role=Role.DOCTOR).delete()
    text = client_for(people.supervisor).get(address).content.decode()
    assert "This project has no doctor; give somebody the role under" in text
    assert f'<a href="{reverse("members", args=[project.slug])}">Members</a>' in text


def figure(page: Any, name: str) -> str | None:
    _, found, rest = page.content.decode().partition(f"<dt>{name}</dt><dd>")
    return rest.partition("<")[0] if found else None


@pytest.mark.parametrize("finished", [True, False])
def test_the_overview_counts_gold_as_exports_do(
    client_for: Any, project: Project, people: People, finished: bool
) -> None:
    make_exam(factory.make_dialogue(project, "EXAM"), "test", people.supervisor)
    page = client_for(people.supervisor).get(reverse("project", args=[project.slug]))
    assert (figure(page, "finished gold"), figure(page, "gold of training and test")) == (None, "1")
    make_gold(factory.make_dialogue(project, "GOLD"), people.annotator, people.second, people.supervisor)
    if not finished:
        LabelSet.objects.filter(owner="gold", purpose="work").update(status="in_progress")
    page = client_for(people.supervisor).get(reverse("project", args=[project.slug]))
    expected = ("1", None) if finished else ("0", "1")
    assert (figure(page, "finished gold"), figure(page, "gold under way")) == expected
    assert figure(page, "gold of training and test") == "1"
