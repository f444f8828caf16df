"""Forms about projects, members and dialogues."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.base import PortalForm
from annotation.models import Role
from annotation.questionnaires import available, get_questionnaire

ROLE_HELP = {
    Role.ANNOTATOR: "labels the dialogues that are assigned to them",
    Role.DOCTOR: "reads the dialogues, answers concerns, adjudicates, decides concepts, exports gold",
    Role.CURATOR: "shortlists concepts for the values of labels",
    Role.SUPERVISOR: "imports, assigns, reads all labels, manages members",
}


def role_choices() -> list[tuple[str, str]]:
    return [(role.value, f"{role.label.capitalize()}: {ROLE_HELP[role]}") for role in Role]


class RolesField(forms.MultipleChoiceField):
    """The roles as checkboxes; a person may hold several."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label="Roles", choices=role_choices, **kwargs)


class ProjectNameForm(PortalForm):
    name = forms.CharField(label="Name", max_length=100)


class NewProjectForm(ProjectNameForm):
    questionnaire = forms.ChoiceField(
        label="Questionnaire", help_text="What annotators are asked. It stays the same for the life of the project."
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs["autofocus"] = True
        self.fields["questionnaire"].choices = [  # type: ignore[attr-defined]
            (name, f"{get_questionnaire(name).title} (version {get_questionnaire(name).version})")
            for name in available()
        ]


class MemberForm(PortalForm):
    """Somebody who has an account: named exactly, since who else has one is nobody's business here."""

    who = forms.CharField(
        label="User name or e-mail address",
        help_text="Exactly as the person gave it to you.",
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    roles = RolesField()


class NewMemberForm(PortalForm):
    """Somebody who has none yet."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Letters, digits and @ . + - _ only.",
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(label="Last name", max_length=150, required=False)
    email = forms.EmailField(label="E-mail address", required=False)
    roles = RolesField()


class MemberRolesForm(PortalForm):
    roles = RolesField(error_messages={"required": "Choose at least one role, or remove the member below."})
