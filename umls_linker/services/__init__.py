"""The only way in which vocabularies, surface forms and decisions are written."""
