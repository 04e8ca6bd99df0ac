"""The types of the API, for its OpenAPI description. Requests are checked in ``parse_request``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel

Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
WordForm = Annotated[str, Field(pattern=r"^[^\x00\t\n\r]+$")]
Tag = Annotated[str, Field(pattern=r"^[^\x00\t\n\r]*$")] | None
Words = Annotated[list[WordForm], Field(min_length=1)]
WordsWithTag = Annotated[list[tuple[WordForm, Tag]], Field(min_length=1)]
WordsWithTags = Annotated[list[tuple[WordForm, Tag, Tag]], Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)] | None

UNCALIBRATED = "Null if the model has no calibration."
ROOT = "Null for the root, which is left at the end."
NO_CHOICE = "Also null if there was no such action."


class _Whole(BaseModel):
    """A value with no other keys than those described."""

    model_config = ConfigDict(extra="forbid")


class _Response(BaseModel):
    model_config = ConfigDict(extra="allow")


class TextRequest(_Whole):
    """A raw text, which is split into sentences."""

    text: Text = Field(description="The text.", examples=["The fox jumps. It likes apples."])


class SentencesRequest(_Whole):
    """Raw texts that are one sentence each."""

    sentences: list[Text] = Field(description="The sentences.", examples=[["The fox jumps.", "It likes apples."]])


class TokensRequest(_Whole):
    """Sentences in words. A word may have a tag (UPOS, or XPOS if the model reads nothing else) or both; the model's
    tagger predicts a tag that is null or empty."""

    tokens: list[Words | WordsWithTag | WordsWithTags] = Field(
        description="A list of words, of [word, tag] or of [word, upos, xpos] for each sentence.",
        examples=[[["The", "fox", "jumps"], ["It", "likes", "apples"]]],
    )


def body_of_parse() -> dict[str, Any]:
    """Return the body of POST /parse for the OpenAPI description: one of three, with an example for each."""
    kinds = (TextRequest, SentencesRequest, TokensRequest)
    examples: dict[str, Any] = {}
    for kind in kinds:
        [(name, field)] = kind.model_fields.items()
        examples[name] = {"summary": " ".join((kind.__doc__ or "").split()), "value": {name: (field.examples or [])[0]}}
    schema = {"title": "ParseRequest", "oneOf": [kind.model_json_schema() for kind in kinds]}
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}


class DecidedResponse(_Whole):
    """The head, the relation and the tag of a word before they were changed."""

    head: int
    relation: str
    upos: str


class WordResponse(_Whole):
    """A word, its head, and how that was decided."""

    id: int = Field(description="From 1.")
    form: str
    lemma: str | None
    upos: str | None
    xpos: str | None
    feats: str | None = Field(description="Morphological features, as in CoNLL-U.")
    head: int = Field(description="The id of its head; 0 for the root.")
    relation: str
    arc_confidence: Probability = Field(description=f"The probability that the head is right. {UNCALIBRATED}")
    label_confidence: Probability = Field(
        description=f"The probability that head and relation are right. {UNCALIBRATED}"
    )
    step: int | None = Field(description=f"The step at which it was attached, from 1. {ROOT}")
    score: float | None = Field(description=f"The score of the action that attached it. {ROOT}")
    margin: float | None = Field(
        description="How far the score was above that of the best action that would have changed the arc. "
        f"{ROOT} {NO_CHOICE}"
    )
    label_margin: float | None = Field(
        description=f"How far the score was above that of the same arc with the best other relation. {ROOT} {NO_CHOICE}"
    )
    moved_from: int | None = Field(
        None,
        description="The id of the head it was attached to, if its arc was moved after parsing because it crosses "
        "others. Only there in words whose arcs were moved.",
    )
    decided: DecidedResponse | None = Field(
        None, description="What the parser and the tagger decided, if that was changed to obey the rules of UD."
    )


class TokenResponse(_Whole):
    """A token's place in the text, and the words it consists of."""

    start: int
    end: int
    words: tuple[int, int] = Field(description="The ids of its first and its last word.")


class SentenceResponse(_Whole):
    """A sentence as easyfirst parse --to json writes it. Keys described in brackets are there for texts only."""

    confidence: Probability = Field(description=f"The probability that the whole tree is right. {UNCALIBRATED}")
    words: list[WordResponse]
    document: int | None = Field(None, description="(The number of its text, from 1.)")
    document_start: int | None = Field(None, description="(The start of that text in the request: 0.)")
    text: str | None = Field(None, description="(The text of the sentence.)")
    tokens: list[TokenResponse] | None = Field(None, description="(The places of the tokens in the text.)")


class ModelName(_Response):
    """The model that parsed the request."""

    name: str
    easyfirst_version: str | None = Field(description="The version of easyfirst that made it.")


class ParseResponse(_Response):
    """The trees, in the order of the request."""

    model: ModelName
    sentences: list[SentenceResponse]
    warnings: list[str] = Field(description="Reasons to doubt the trees, such as a text in another language.")


class HealthResponse(_Response):
    """The state of the server."""

    status: str = Field(description="ok.")
    model: str
    easyfirst_version: str
    waiting: int = Field(description="The number of requests that are waiting or being parsed.")


class ModelResponse(RootModel[dict[str, Any]]):
    """What easyfirst info --json prints about the model."""


class ErrorResponse(_Response):
    """Why a request was refused, and what to do."""

    error: str
