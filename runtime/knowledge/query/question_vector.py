"""What a question means, on its way into a worker process."""

import msgspec


class QuestionVector(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A question as its embedder has it."""

    model: str
    """Only vectors that this model made can be compared with it."""
    vector: bytes
    """Empty: there is none."""
    failure: str = ""
    """Why, in a sentence."""
