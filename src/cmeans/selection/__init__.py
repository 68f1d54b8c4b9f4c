"""The number of clusters: evidence that compares across numbers of clusters, and the choice by
it."""
