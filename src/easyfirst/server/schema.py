"""The types of the API, for its OpenAPI description. Requests are checked in ``parse_request``."""

from __future__ import annotations

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, RootModel

from easyfirst.render.columns import COLUMNS
from easyfirst.render.svg import MIN_WIDTH, WIDTH
from easyfirst.server.extras import MAX_FIRST, MAX_WIDTH

Text = Annotated[str, Field(pattern=r"^[^\x00]*$")]
WordForm = Annotated[str, Field(pattern=r"^[^\x00\t\n\r]+$")]
Tag = Annotated[str, Field(pattern=r"^[^\x00\t\n\r]*$")] | None
WordNumber = Annotated[str, Field(pattern=r"^[0-9]{1,9}$")]
Words = Annotated[list[WordForm], Field(min_length=1)]
WordsWithTag = Annotated[list[tuple[WordForm, Tag]], Field(min_length=1)]
WordsWithTags = Annotated[list[tuple[WordForm, Tag, Tag]], Field(min_length=1)]
_COLUMN = "(" + "|".join(COLUMNS) + ")"
Columns = Annotated[str, Field(pattern=rf"^(none|{_COLUMN}(,{_COLUMN})*)$")]
Probability = Annotated[float, Field(ge=0, le=1)] | None

UNCALIBRATED = "Null if the model has no calibration."
CONLLU = "1\tThe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tfox\t_\t_\t_\t_\t_\t_\t_\tFixedHead=0\n"
ROOT = "Null for the root, which is left at the end."
NO_CHOICE = "Also null if there was no such action."


class _Whole(BaseModel):
    """A value with no other keys than those described."""

    model_config = ConfigDict(extra="forbid")


class _Response(BaseModel):
    model_config = ConfigDict(extra="allow")


class SentenceConstraints(_Whole):
    """What the tree of a sentence must be like. Words are numbered from 1; 0 is the head of the root."""

    heads: dict[WordNumber, Annotated[int, Field(ge=0)]] = Field({}, description="The heads of words, by modifier.")
    relations: dict[WordNumber, str] = Field({}, description="The relations of words, by modifier.")
    forbidden: list[tuple[int, int] | tuple[int, int, str | None]] = Field(
        [], description="Arcs that are not allowed: [head, modifier] or [head, modifier, relation]."
    )
    brackets: list[tuple[int, int]] = Field([], description="Spans that form one subtree: [first, last].")


class _Request(_Whole):
    model: str | None = Field(None, description="The name of another model, if the server has several.")
    include: list[Literal["alternatives", "conllu", "svg", "latex", "html"]] = Field(
        [], description="What to return besides the trees."
    )
    width: Annotated[float, Field(ge=MIN_WIDTH, le=MAX_WIDTH)] = Field(
        WIDTH, description="The width of pictures in pixels."
    )
    show: Columns | None = Field(
        None,
        description="The columns below the words of pictures: some of lemma, upos, xpos and feats with commas between, "
        "or none.",
        examples=["lemma,upos"],
    )
    first: Annotated[int, Field(ge=1, le=MAX_FIRST)] = Field(
        1, description="The number of the first sentence, for titles and for the ids in html."
    )


class TextRequest(_Request):
    """A raw text, which is split into sentences."""

    text: Text = Field(description="The text.", examples=["The fox jumps. It likes apples."])


class SentencesRequest(_Request):
    """Raw texts that are one sentence each."""

    sentences: list[Text] = Field(description="The sentences.", examples=[["The fox jumps.", "It likes apples."]])


class TokensRequest(_Request):
    """Sentences in words. A word may have a tag (UPOS, or XPOS if the model reads nothing else) or both; the model's
    tagger predicts a tag that is null or empty."""

    tokens: list[Words | WordsWithTag | WordsWithTags] = Field(
        description="A list of words, of [word, tag] or of [word, upos, xpos] for each sentence.",
        examples=[[["The", "fox", "jumps"], ["It", "likes", "apples"]]],
    )
    constraints: list[SentenceConstraints | None] | None = Field(
        None,
        description="The constraints on each sentence, or null for none. The parser completes the trees under them.",
        examples=[[{"heads": {"1": 2}, "relations": {"1": "det"}}, None]],
    )


class ConlluRequest(_Request):
    """Sentences in CoNLL-U. Their heads and relations are not used."""

    conllu: Text = Field(description="The sentences.", examples=[CONLLU])
    constraints: list[SentenceConstraints | None] | Literal["misc"] | None = Field(
        None,
        description="The constraints on each sentence, or null for none; misc: those in the column MISC.",
        examples=["misc"],
    )


def body_of_parse() -> dict[str, Any]:
    """Return the body of POST /parse for the OpenAPI description: one of three, with an example for each."""
    kinds = (TextRequest, SentencesRequest, TokensRequest, ConlluRequest)
    examples: dict[str, Any] = {}
    for kind in kinds:
        name = next(name for name in kind.model_fields if name not in _Request.model_fields)
        fields = {key: kind.model_fields[key] for key in (name, "constraints") if key in kind.model_fields}
        value = {key: (field.examples or [])[0] for key, field in fields.items()}
        examples[name] = {"summary": " ".join((kind.__doc__ or "").split()), "value": value}
    schema = {"title": "ParseRequest", "oneOf": [_inlined(kind) for kind in kinds]}
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}


def _inlined(kind: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a request without references, which would point to the wrong place in the description."""
    schema = kind.model_json_schema()
    definitions = schema.pop("$defs", {})

    def inline(value: Any) -> Any:
        if isinstance(value, list):
            return [inline(item) for item in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        values = cast("dict[str, Any]", value)
        if "$ref" in values:
            return inline(definitions[values["$ref"].rpartition("/")[2]])
        return {key: inline(item) for key, item in values.items()}

    return inline(schema)


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
    fixed: list[Literal["head", "relation"]] | None = Field(
        None, description="What constraints have fixed. Only there if the sentence had constraints."
    )
    decided: DecidedResponse | None = Field(
        None, description="What the parser and the tagger decided, if that was changed to obey the rules of UD."
    )


class TokenResponse(_Whole):
    """A token's place in the text, and the words it consists of."""

    start: int
    end: int
    words: tuple[int, int] = Field(description="The ids of its first and its last word.")


class AlternativeResponse(_Whole):
    """A head and a relation that a word could have."""

    head: int
    relation: str
    probability: Probability = Field(description=f"The probability that both are right. {UNCALIBRATED}")


class SentenceResponse(_Whole):
    """A sentence as easyfirst parse --to json writes it. Keys described in brackets are there for texts only, and those
    that include names only if they were asked for."""

    confidence: Probability = Field(description=f"The probability that the whole tree is right. {UNCALIBRATED}")
    words: list[WordResponse]
    document: int | None = Field(None, description="(The number of its text, from 1.)")
    document_start: int | None = Field(None, description="(The start of that text in the request: 0.)")
    text: str | None = Field(None, description="(The text of the sentence.)")
    tokens: list[TokenResponse] | None = Field(None, description="(The places of the tokens in the text.)")
    constraints: SentenceConstraints | None = Field(None, description="The constraints, if the sentence had some.")
    alternatives: list[list[AlternativeResponse]] | None = Field(
        None, description="For each word its own head and relation, then others, the most probable first."
    )
    conllu: str | None = Field(None, description="The sentence in CoNLL-U. Its constraints are in MISC.")
    svg: str | None = Field(None, description="A picture.")
    latex: str | None = Field(None, description="A picture for LaTeX, with the package tikz-dependency.")
    html: str | None = Field(None, description="A section of a page, with a picture and the steps.")


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
    sentence: int | None = Field(None, description="The number of the sentence whose constraints conflict, from 1.")
    conflict: SentenceConstraints | None = Field(
        None, description="Constraints that cannot hold together. Without any one of them, the others can."
    )
