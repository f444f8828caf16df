"""A questionnaire as the API gives it: the form of `Questionnaire.as_json`, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotation.domain.questionnaire import Check, Kind, Meaning


class Texts(serializers.ListField):
    child = serializers.CharField()


class SpeakerShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    mark = serializers.CharField()
    usual_intent = serializers.CharField()
    other_intent = serializers.CharField()


class IntentShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    speakers = Texts()
    asks = serializers.BooleanField(help_text="Its labels tick questions rather than answer them.")
    named = serializers.BooleanField(help_text="The annotator gives it a name.")
    slotless = serializers.BooleanField()
    key = serializers.CharField()
    help = serializers.CharField()
    guideline = serializers.CharField()


class ChoiceShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    meaning = serializers.ChoiceField([(item.value, item.value) for item in Meaning], allow_null=True)
    portal = serializers.CharField()
    spellings = Texts()
    older = serializers.BooleanField(help_text="Read from older files, offered no longer.")
    bare = serializers.BooleanField(help_text="Of several with its meaning, what a plain yes or no stands for.")


class FieldShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    question = serializers.CharField()
    kind = serializers.ChoiceField([(item.value, item.value) for item in Kind])
    help = serializers.CharField()
    values = serializers.CharField(help_text="The list of values to choose from; “” for none.")
    choices = ChoiceShape(many=True)
    minimum = serializers.IntegerField()
    maximum = serializers.IntegerField()
    medical = serializers.BooleanField()
    check = serializers.ChoiceField([(item.value, item.value) for item in Check])
    criterion = serializers.BooleanField()
    speakers = Texts()
    intents = Texts()
    default = serializers.DictField(child=serializers.CharField())
    needed = serializers.BooleanField()
    portal = serializers.CharField()


class SlotShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    intents = Texts()
    fields = FieldShape(many=True)  # type: ignore[assignment]
    head = serializers.CharField()
    status = serializers.CharField()
    implied_value = serializers.CharField()
    key = serializers.CharField()
    tracked = serializers.BooleanField()
    help = serializers.CharField()
    guideline = serializers.CharField()


class SpecialCaseShape(serializers.Serializer[Any]):
    title = serializers.CharField()
    rule = serializers.CharField()
    example = serializers.CharField()
    slots = Texts()
    intents = Texts()


class QuestionnaireShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    title = serializers.CharField()
    about = serializers.CharField()
    speakers = SpeakerShape(many=True)
    intents = IntentShape(many=True)
    slots = SlotShape(many=True)
    lists = serializers.DictField(child=serializers.ListField(child=Texts()), help_text="Each value with its synonyms.")
    special_cases = SpecialCaseShape(many=True)
    guideline = serializers.CharField()
    unlabelled_reasons = Texts()


class QuestionnaireRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    title = serializers.CharField()


class QuestionnaireQuery(serializers.Serializer[Any]):
    version = serializers.CharField(required=False, help_text="The present version if left out.")
