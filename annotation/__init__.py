"""Dialogues, questionnaires, labels, patient states and files: the labelling portal itself."""
