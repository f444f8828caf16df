"""What all forms share: a service's refusal shown beside the field it is about."""

from __future__ import annotations

from typing import Any

from django import forms

from annotation.services.errors import Refused


class PortalForm(forms.Form):
    """A form whose inputs name their help and their errors to assistive technology (Django adds the attributes)."""

    use_required_attribute = True

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)

    def refuse(self, refusal: Refused) -> None:
        """Show a refusal at its field, or above the form when it names none of this form's."""
        self.add_error(refusal.field if refusal.field in self.fields else None, refusal.message)
