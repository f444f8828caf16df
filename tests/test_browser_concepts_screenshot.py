"""The review of concepts as the documents show it. `PORTAL_SCREENSHOTS=1` makes the picture anew; the page is checked
always, with the vocabulary that needs no licence and the demonstration's labels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotation.models import LabelSet, Project, User
from annotation.services.demo import demo_load
from tests import factory
from tests.browser import sign_in
from tests.reviewing import form_of, link
from umls_linker.index.sources import Embedded
from umls_linker.models import SurfaceForm, Verdict
from umls_linker.services.decisions import decision_take, shortlist_set
from umls_linker.services.project_vocabulary import forget
from umls_linker.services.vocabularies import vocabulary_build

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "concepts.png"

pytestmark = pytest.mark.browser


@pytest.mark.django_db(transaction=True)
def test_the_review_of_the_demonstration_shows_words_occurrences_and_candidates(
    live_server: Any, chromium: Any
) -> None:
    vocabulary_build(source=Embedded.find(), name="embedded")
    forget()
    demo_load(password=factory.PASSWORD)
    project = Project.objects.get(name="Demo")
    link(project, *LabelSet.objects.filter(dialogue__project=project, owner="annotator"))
    doctor = User.objects.get(username="doctor")
    form = SurfaceForm.objects.get(project=project, slot="symptom", field="value", key="chest pain")
    decision_take(form=form_of(project, "hemoptysis"), actor=doctor, cui="C0019079", expected=None)
    shortlist_set(
        form=form, actor=User.objects.get(username="curator"), cui=form.candidates.all()[0].cui, verdict=Verdict.KEEP
    )
    page = sign_in(chromium, live_server, "doctor")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{live_server.url}{reverse('concepts', args=[project.slug])}#f{form.pk}")
    page.wait_for_selector("[data-shown]")
    page.wait_for_selector("[data-card]")
    if os.environ.get("PORTAL_SCREENSHOTS") == "1":
        page.screenshot(path=PICTURE, animations="disabled")
    assert page.evaluate(
        "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
    )
    bottoms = {
        name: page.locator(name).evaluate_all("items => items.map((item) => item.getBoundingClientRect().bottom)")
        for name in ("[data-label]", "[data-card]", ".linking-actions")
    }
    top = bottoms[".linking-actions"][0] - 40
    assert sum(bottom <= top for bottom in bottoms["[data-card]"]) >= min(5, len(bottoms["[data-card]"]))
    assert sum(bottom <= top for bottom in bottoms["[data-label]"]) >= min(3, len(bottoms["[data-label]"]))
    assert errors == []
    page.context.close()
