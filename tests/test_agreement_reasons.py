"""Why a figure is undefined, in words."""

from __future__ import annotations

import pytest

from annotation.domain.agreement_reasons import why_mean_undefined, why_undefined

KAPPA = ("intents", "kappa_whole_set")


@pytest.mark.parametrize(
    ("path", "compared", "over", "words"),
    [
        (KAPPA, 0, 0, "nothing to measure"),
        (KAPPA, 9, 9, "same category throughout"),
        (("intents", "alpha_masi"), 9, 9, "α would be 0 divided by 0"),
        (("slot_values", "kappa"), 9, 0, "nothing to decide"),
        (("slot_values", "f"), 9, 0, "F would be 0 divided by 0"),
        (("slot_values", "closed_lists", "symptom.status", "kappa"), 9, 0, "no slot and value in common"),
        (("intents", "by_intent", "inform", "positive"), 9, 9, "Neither annotator used it"),
        (("intents", "by_intent", "inform", "negative"), 9, 9, "on every utterance"),
        (("state", "share"), 9, 0, "after patient turns"),
        (("state", "f"), 9, 0, "after patient turns"),
    ],
)
def test_the_reason_fits_the_figure(path: tuple[str, ...], compared: int, over: int, words: str) -> None:
    assert words in why_undefined(path, compared=compared, over=over)


def test_a_mean_of_several_pairs_has_a_reason_of_its_own() -> None:
    assert "No pair" in why_mean_undefined(0)
    assert why_mean_undefined(1) == ""
    assert "each pair" in why_mean_undefined(3)
