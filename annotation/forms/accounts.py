"""Forms about people."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.forms.base import PortalForm


class SignInForm(PortalForm):
    username = forms.CharField(
        label="User name",
        widget=forms.TextInput({"autocomplete": "username", "autofocus": True, "autocapitalize": "none"}),
    )
    password = forms.CharField(
        label="Password", strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )


class NewPasswordForm(PortalForm):
    """The new password, twice."""

    new = forms.CharField(
        label="New password",
        strip=False,
        help_text="Ten characters or more. A few words in a row are easy to remember and hard to guess.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label="New password again", strip=False, widget=forms.PasswordInput({"autocomplete": "new-password"})
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("new") and data.get("again") and data["new"] != data["again"]:
            self.add_error("again", "The two passwords differ; type the new one again.")
        return data


class ChangePasswordForm(NewPasswordForm):
    """The same for somebody who is signed in and has to show that it is them."""

    present = forms.CharField(
        label="Present password", strip=False, widget=forms.PasswordInput({"autocomplete": "current-password"})
    )
    field_order = ("present", "new", "again")


class PersonForm(PortalForm):
    """Names and address of a person."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(label="Last name", max_length=150, required=False)
    email = forms.EmailField(
        label="E-mail address", required=False, help_text="The portal sends no mail; supervisors find people by it."
    )
    is_superuser = forms.BooleanField(label="Administrator", required=False)


class NewPersonForm(PersonForm):
    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Letters, digits and @ . + - _ only.",
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "autofocus": True}),
    )
    field_order = ("username", "first_name", "last_name", "email", "is_superuser")
