"""What labelling is answered by (see `annotation.services.concept_linking`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotation.domain.concepts import Canon, DecidedConcepts
from annotation.models import Dialogue, User
from annotation.services.concept_linking import Mention, StatedDecisions
from umls_linker.services import canonical, mentions, restoring
from umls_linker.services.messages import Seldom, in_place, send

EVERY_SECONDS = 2.0
WAIT_SECONDS = 3  # longer than that, so that a message covers every change after which none was sent
ONE_BY_ONE = 20  # more dialogues than these are looked through as one body of work


class BackgroundLinker:
    """Looks up what is stored, and leaves the work to the workers."""

    def __init__(self) -> None:
        self.changed = Seldom(EVERY_SECONDS)

    def labels_changed(self, label_set_id: int) -> None:
        if in_place() or self.changed.due(label_set_id):
            send("collect_label_set", label_set_id, countdown=WAIT_SECONDS)

    def dialogues_added(self, dialogue_ids: Sequence[int]) -> None:
        if len(dialogue_ids) <= ONE_BY_ONE:
            for dialogue_id in dialogue_ids:
                send("find_mentions", dialogue_id)
            return
        rows = Dialogue.objects.filter(pk=dialogue_ids[0]).values_list("project_id", flat=True)
        for project_id in rows:
            send("find_project_mentions", project_id)

    def dialogues_archived(self, project_id: int) -> None:
        send("count_forms", project_id)

    def canon(self, project_id: int) -> Canon:
        return canonical.canon_of(project_id)

    def decided_concepts(self, project_id: int) -> DecidedConcepts:
        return canonical.decided_concepts(project_id)

    def decisions_restore(self, project_id: int, decisions: StatedDecisions, actor: User) -> Sequence[str]:
        return restoring.decisions_restore(project_id=project_id, decisions=decisions, actor=actor)

    def mentions(self, dialogue_id: int) -> Mapping[int, Sequence[Mention]]:
        return mentions.mentions_of(dialogue_id)


LINKER = BackgroundLinker()
