"""Rows that others hold, part by part: what every engine over them shares."""
