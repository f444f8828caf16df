"""A person's own keys."""

from __future__ import annotations

from annotation.models import User

URL = "/me/keys/cmas/"


def keymap() -> dict:
    return User.objects.get(username="alice").keymap


def test_the_only_questionnaire_is_gone_to_at_once(client_for, people):
    assert client_for(people.annotator).get("/me/keys/").url == URL
    assert "No keys to set yet" in client_for(people.outsider).get("/me/keys/").content.decode()


def test_a_questionnaire_of_no_project_of_mine_is_not_found(client_for, people):
    assert client_for(people.outsider).get(URL).status_code == 404
    assert client_for(people.annotator).get("/me/keys/nothing/").status_code == 404


def test_every_action_that_can_be_moved_has_a_field(client_for, people):
    page = client_for(people.annotator).get(URL).content.decode()
    assert 'name="key:slot:symptom"' in page
    assert 'name="key:repeat"' in page
    assert 'name="key:form-leave"' not in page


def test_own_keys_are_saved_and_shown(client_for, people):
    client = client_for(people.annotator)
    assert client.post(URL, {"key:repeat": "F4", "key:next": "", "key:delete": "Delete", "key:nothing": "x"}).url == URL
    assert keymap() == {"repeat": "F4", "delete": "Delete"}
    assert 'name="key:repeat" value="F4"' in client.get(URL).content.decode()


def test_the_usual_key_is_no_own_key(client_for, people):
    client_for(people.annotator).post(URL, {"key:repeat": "."})
    assert keymap() == {}


def test_a_clash_is_named_at_both_fields_and_nothing_is_saved(client_for, people):
    page = client_for(people.annotator).post(URL, {"key:repeat": "j"}).content.decode()
    assert page.count('aria-invalid="true"') == 2
    assert "would be both “Next utterance” and “Repeat the last label here”" in page
    assert 'name="key:repeat" value="j"' in page
    assert keymap() == {}


def test_a_key_that_cannot_be_is_refused(client_for, people):
    page = client_for(people.annotator).post(URL, {"key:repeat": "Tab"}).content.decode()
    assert "“Tab” cannot be the key" in page
    assert keymap() == {}


def test_the_usual_keys_come_back(client_for, people):
    client = client_for(people.annotator)
    client.post(URL, {"key:repeat": "F4"})
    client.post(URL, {"reset": "1", "key:next": "F5"})
    assert keymap() == {}


def test_who_decides_sets_the_keys_of_adjudication_too(client_for, people):
    assert 'name="key:adjudicate:A"' not in client_for(people.annotator).get(URL).content.decode()
    client_for(people.annotator).post(URL, {"key:adjudicate:A": "F4"})
    assert keymap() == {}
    doctor = client_for(people.doctor)
    assert 'name="key:adjudicate:A"' in doctor.get(URL).content.decode()
    assert doctor.post(URL, {"key:adjudicate:A": "F4", "key:repeat": "F4"}).url == URL
    assert User.objects.get(username="dora").keymap == {"adjudicate:A": "F4", "repeat": "F4"}
    assert "would be both" in doctor.post(URL, {"key:adjudicate:A": "b"}).content.decode()
