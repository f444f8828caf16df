"""Routes of concerns, of the guideline notes that come of them, and of incomplete labels."""

from django.urls import path

from annotation.views import completeness, concerns, news

urlpatterns = [
    path("projects/<slug:slug>/concerns/", concerns.concerns, name="concerns"),
    path("projects/<slug:slug>/concerns/<int:pk>/", concerns.concern, name="concern"),
    path("projects/<slug:slug>/concerns/<int:pk>/answer/", concerns.concern_answer_view, name="concern-answer"),
    path("projects/<slug:slug>/concerns/<int:pk>/close/", concerns.concern_close_view, name="concern-close"),
    path("projects/<slug:slug>/concerns/<int:pk>/publish/", concerns.concern_publish_view, name="concern-publish"),
    path(
        "projects/<slug:slug>/guidelines/<int:pk>/withdraw/",
        concerns.guideline_note_withdraw_view,
        name="guideline-note-withdraw",
    ),
    path("projects/<slug:slug>/work/<int:pk>/news/", news.news, name="workbench-news"),
    path("projects/<slug:slug>/work/<int:pk>/concerns/", news.raise_concern, name="workbench-concern"),
    path("projects/<slug:slug>/work/<int:pk>/concerns/close/", news.close_concern, name="workbench-concern-close"),
    path("projects/<slug:slug>/work/<int:pk>/concerns/reply/", news.reply_concern, name="workbench-concern-reply"),
    path("projects/<slug:slug>/completeness/", completeness.completeness, name="completeness"),
    path("projects/<slug:slug>/completeness/return/", completeness.gaps_return_view, name="gaps-return"),
    path(
        "projects/<slug:slug>/completeness/<int:pk>/take-back/",
        completeness.take_back_view,
        name="returned-item-take-back",
    ),
]
