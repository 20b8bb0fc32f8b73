"""Sentences of ours around what sources say, one file a language: data. The same keys and places in each."""
