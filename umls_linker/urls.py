"""Routes of concept linking: the review, the vocabulary, and what the workbench looks up."""

from django.urls import path

from umls_linker.views import deciding, lookup, review, vocabulary

urlpatterns = [
    path("projects/<slug:slug>/concepts/", review.review, name="concepts"),
    path("projects/<slug:slug>/concepts/queue/", review.queue_part, name="concepts-queue"),
    path("projects/<slug:slug>/concepts/progress/", review.progress_json, name="concepts-progress"),
    path("projects/<slug:slug>/concepts/undo/", deciding.undo, name="concepts-undo"),
    path("projects/<slug:slug>/concepts/search/", lookup.search, name="concepts-search"),
    path("projects/<slug:slug>/concepts/suggest/", lookup.suggest, name="concepts-suggest"),
    path("projects/<slug:slug>/concepts/decided/", lookup.decided, name="concepts-decided"),
    path("projects/<slug:slug>/concepts/<int:pk>/", review.form_part, name="concept"),
    path("projects/<slug:slug>/concepts/<int:pk>/occurrences/", review.occurrences, name="concept-occurrences"),
    path("projects/<slug:slug>/concepts/<int:pk>/decide/", deciding.decide, name="concept-decide"),
    path("projects/<slug:slug>/concepts/<int:pk>/shortlist/", deciding.shortlist, name="concept-shortlist"),
    path("projects/<slug:slug>/concepts/<int:pk>/ask/", deciding.ask, name="concept-ask"),
    path("projects/<slug:slug>/concepts/questions/<int:pk>/", deciding.answer, name="concept-question-answer"),
    path("projects/<slug:slug>/concepts/questions/<int:pk>/seen/", deciding.seen, name="concept-question-seen"),
    path("projects/<slug:slug>/concepts/decisions/<int:pk>/revert/", deciding.revert, name="concept-decision-revert"),
    path("projects/<slug:slug>/concepts/vocabulary/", vocabulary.vocabulary, name="concepts-vocabulary"),
    path("projects/<slug:slug>/concepts/vocabulary/switch/", vocabulary.switch, name="concepts-vocabulary-switch"),
    path(
        "projects/<slug:slug>/concepts/vocabulary/accept/<int:pk>/",
        vocabulary.accept,
        name="concept-decision-migrate",
    ),
    path("projects/<slug:slug>/concepts/vocabulary/keep/<int:pk>/", vocabulary.keep, name="concept-decision-keep"),
    path(
        "projects/<slug:slug>/concepts/vocabulary/look-again/<int:pk>/",
        vocabulary.look_again,
        name="concept-decision-look-again",
    ),
]
