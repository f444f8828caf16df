"""The demonstration: invented dialogues and two labelled readings."""
