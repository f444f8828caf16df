"""Dialogues, questionnaires, labels, patient states and files: the labelling portal itself."""

VERSION = "0.1.0"
