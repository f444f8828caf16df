"""Labels as they were at an earlier version: what happened since is taken back."""

from __future__ import annotations

import uuid

from annotation.models import LabelSet
from annotation.services.agreement_then import readings_then
from annotation.services.labelling import Change, label_set_change, label_set_undo
from annotation.services.readings import labels_of
from tests import factory
from tests.factory import inform


def change(label_set: LabelSet, changes: list[Change]) -> None:
    assert label_set.annotator
    label_set.refresh_from_db()
    label_set_change(
        label_set=label_set,
        actor=label_set.annotator,
        version=label_set.version,
        key=str(uuid.uuid4()),
        changes=changes,
    )


def test_each_earlier_version_comes_back_whatever_was_done_since(label_set, django_assert_max_num_queries) -> None:
    kept = {}

    def keep() -> None:
        label_set.refresh_from_db()
        kept[label_set.version] = labels_of(label_set)

    keep()
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"), inform(3, "symptom", "fever"))
    keep()
    first, second = labels_of(label_set)
    change(label_set, [Change(first.id, first.with_answers(status="no")), Change(second.id, None)])
    keep()
    label_set_undo(label_set=label_set, actor=label_set.annotator, version=label_set.version, key="undo")
    keep()
    factory.make_labels(label_set, inform(5, "symptom", "cold", status="yes"))
    keep()
    assert len(kept) == 5
    assert len({str(labels) for labels in kept.values()}) == 4  # undoing gives the second version again
    for version, labels in kept.items():
        reading = readings_then([label_set], {label_set.pk: version})[label_set.pk]
        assert list(reading.labels) == labels, version
    with django_assert_max_num_queries(2):  # today's labels, and what happened since
        readings_then([label_set], {label_set.pk: 0})


def test_a_label_set_that_no_version_is_given_for_is_as_it_is(label_set) -> None:
    factory.make_labels(label_set, inform(1, "symptom", "cough", status="yes"))
    label_set.refresh_from_db()
    assert list(readings_then([label_set], {})[label_set.pk].labels) == labels_of(label_set)
