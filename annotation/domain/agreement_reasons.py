"""Why a figure is undefined, in a sentence for those who read the report."""

from __future__ import annotations

from annotation.domain.agreement_counts import Path

_CHANCE_CORRECTED = {"kappa", "kappa_whole_set", "alpha_masi", "alpha_whole_set"}
_NEVER_USED = "Neither annotator used it on the utterances compared"


def why_undefined(path: Path, *, compared: int, over: int) -> str:
    """The reason why a figure has no value.

    `compared` is the number of utterances that both submitted, `over` the number of those from which this figure is
    computed (fewer where it is about labels that not every utterance has).
    """
    if not compared:
        return "No utterance here is submitted by both, so that there is nothing to measure."
    if path[0] == "state" and not over:
        return "States are compared after patient turns, and no such turn here says anything that a state could hold."
    if path[-1] in _CHANCE_CORRECTED:
        return _no_chance(path, over)
    if path[-1] == "negative":
        return "Both annotators used it on every utterance compared, so that there is nothing to agree on its absence."
    if path[-1] == "positive":
        return f"{_NEVER_USED}, so that there is nothing to agree on."
    return "Neither annotator has anything of the kind on the utterances compared: F would be 0 divided by 0."


def _no_chance(path: Path, over: int) -> str:
    if not over:
        if path == ("slot_values", "kappa"):
            return "Neither annotator used a slot-value pair on the utterances compared: there is nothing to decide."
        return "The two have no slot and value in common on which this was asked."
    return (
        "Both annotators chose the same category throughout, so that chance alone explains that they agree: "
        f"{'α' if path[-1].startswith('alpha') else 'κ'} would be 0 divided by 0."
    )


def why_mean_undefined(pairs: int) -> str:
    """The reason why a mean over pairs has no value."""
    if not pairs:
        return "No pair of annotators has submitted an utterance that both labelled."
    return "It is undefined for each pair of annotators, so that there is no mean of it." if pairs > 1 else ""
