"""Rows of data: arrays, blocks of rows, rows outside memory, files."""
