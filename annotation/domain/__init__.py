"""The pure side of the portal: no Django, no database, no network.

Every algorithm takes and returns the frozen dataclasses of `labels` and `questionnaire`, or plain lists, so that this
package can be read as the specification of what a label, a state and a file are.
"""
