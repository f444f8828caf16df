"""Routes of signing in, of a person's own pages, and of the accounts."""

from django.urls import path

from annotation.views import accounts, home, keys, people

urlpatterns = [
    path("", home.home, name="home"),
    path("sign-in/", accounts.sign_in, name="sign-in"),
    path("sign-out/", accounts.sign_out, name="sign-out"),
    path("me/password/", accounts.password, name="password"),
    path("me/keys/", keys.keys, name="keys"),
    path("me/keys/<slug:name>/", keys.questionnaire_keys, name="questionnaire-keys"),
    path("me/tokens/", accounts.tokens, name="tokens"),
    path("me/tokens/<str:digest>/revoke/", accounts.token_revoke_view, name="token-revoke"),
    path("people/", people.people, name="people"),
    path("people/new/", people.person_new, name="person-new"),
    path("people/<int:pk>/", people.person, name="person"),
    path("people/<int:pk>/password/", people.person_password, name="person-password"),
    path("people/<int:pk>/archive/", people.person_archive_view, name="person-archive"),
    path("people/<int:pk>/restore/", people.person_restore_view, name="person-restore"),
    path("people/<int:pk>/delete/", people.person_delete_view, name="person-delete"),
]
