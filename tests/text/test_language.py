"""Texts in other languages than the model's: which are recognised, and what is said about them."""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfirst.errors import LanguageWarning
from easyfirst.parser import Parser, load
from easyfirst.server.answers import Answerer
from easyfirst.server.limits import Limits
from easyfirst.server.page import Form, draw_page
from easyfirst.server.parse_request import read_request
from easyfirst.text import language
from easyfirst.text.language import NOTHING, STRANGE_LETTERS, STRANGE_WORDS, Evidence
from easyfirst.treebank.conllu import read_conllu
from easyfirst.treebank.sentence import Sentence
from tests.commands import Run, run_here
from tests.small_models import TREEBANK, small_model

FOREIGN = {
    "fr": "La souris est un petit animal qui vit dans les champs et dans les maisons. Elle mange des graines, des "
    "fruits et parfois des insectes, et elle se cache le jour pour échapper aux chats. Quand il fait froid, elle "
    "cherche un endroit chaud où elle peut dormir avec ses petits jusqu'au printemps.",
    "pt": "O rato é um animal pequeno que vive nos campos e nas casas. Come sementes, frutos e às vezes insetos, e "
    "esconde-se durante o dia para fugir dos gatos. Quando faz frio, procura um lugar quente onde pode dormir com os "
    "filhotes até que chegue a primavera. Muitas pessoas não gostam deles, mas as crianças acham que são bonitos.",
    "nl": "De muis is een klein dier dat in het veld en in huizen leeft. Zij eet zaden, vruchten en soms insecten, en "
    "overdag verbergt zij zich om aan de katten te ontsnappen. Als het koud is, zoekt zij een warme plek waar zij met "
    "haar jongen kan slapen tot het voorjaar wordt. Veel mensen houden niet van muizen, maar kinderen vinden ze lief.",
    "eu": "Sagua animalia txiki bat da, soroetan eta etxeetan bizi dena. Haziak, fruituak eta batzuetan intsektuak "
    "jaten ditu, eta egunez ezkutatzen da katuengandik ihes egiteko. Hotz egiten duenean, leku bero bat bilatzen du "
    "udaberria iritsi arte bere kumeekin lo egiteko.",
    "zh": "我喜欢苹果。",
    "ta": "எலி ஒரு சிறிய விலங்கு.",
    "ru": "Мышь спит.",
}
ENGLISH = [
    "The fox sleeps. The dog barks. The bird sings. The horse runs. " * 4,
    "The mouse is a small animal that lives in fields and houses. It eats seeds, fruit and sometimes insects, and "
    "hides during the day to escape the cats.",
    "Zakaria Amara, 20, Mississauga; Asad Ansari, 21, Mississauga; Waheed Zaman, 22, London; Waseem Kayani, 28, High "
    "Wycombe; Umar Islam, 28, High Wycombe; Cossor Ali, 24, London; Tanvir Hussain, 24, London; Nabeel Hussain, 22.",
    "BREAKING NEWS: STOCKS FALL AS OIL PRICES RISE AGAIN, ANALYSTS SAY, WHILE BANKS CUT RATES AND EMPLOYERS CUT JOBS",
    "Naïve café owners in Zürich, Malmö and Kraków met Łukasz Żółć and Đặng Thị Ngọc.",
    "The Russian word мышь means mouse, and 鼠 is its Chinese character.",
    "α, β and γ",
    "Ja.",
    "我",
    "12 34 56 😀😀😀😀 $$$",
    "",
]


@lru_cache(maxsize=1)
def english() -> Parser:
    return load("en")


def sentences_of(text: str) -> list[Sentence]:
    [tokenized] = english().tokenize([text])
    return tokenized.sentences()


def problem_of(text: str) -> str | None:
    return english().language.problem(english().language.count(sentences_of(text)))


class TestWhatIsRecognised:
    @pytest.mark.parametrize("name", ["fr", "pt", "nl", "eu"])
    def test_paragraphs_in_the_same_script(self, name: str) -> None:
        assert problem_of(FOREIGN[name]) == STRANGE_WORDS
        assert problem_of(FOREIGN[name].lower()) == STRANGE_WORDS

    @pytest.mark.parametrize("name", ["zh", "ta", "ru"])
    def test_sentences_in_other_scripts(self, name: str) -> None:
        assert problem_of(FOREIGN[name]) == STRANGE_LETTERS
        assert problem_of(FOREIGN[name].upper()) == STRANGE_LETTERS

    @pytest.mark.parametrize("text", ENGLISH, ids=range(len(ENGLISH)))
    def test_unusual_texts_in_the_language(self, text: str) -> None:
        assert problem_of(text) is None

    def test_sentences_of_a_treebank_one_by_one_and_together(self) -> None:
        found = english().language
        sentences = list(read_conllu(TREEBANK))
        assert [found.problem(found.count([sentence])) for sentence in sentences] == [None] * len(sentences)
        assert found.problem(found.count(sentences)) is None

    def test_a_model_of_little_text_does_not_judge(self) -> None:
        parser = Parser(small_model("none"))
        assert parser.language.problem(parser.language.count(sentences_of(FOREIGN["zh"]))) is None
        assert parser.language.problem(Evidence(words=200, letters=1000, unknown=1000)) is None

    def test_what_little_text_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(language, "MIN_TRAINING_WORDS", 10)
        parser = Parser(small_model("none"))
        assert parser.language.problem(parser.language.count(sentences_of(FOREIGN["zh"]))) == STRANGE_LETTERS


class TestCounts:
    @given(st.lists(st.sampled_from(["the", "The", "fox", "zzyzx", "мышь", "né", "12", "...", "we're", "Żółć", "x1"])))
    def test_counted_by_hand(self, forms: list[str]) -> None:
        if not forms:
            return
        found = english().language.count([Sentence.from_words(forms)])
        letters = [letter for form in forms for letter in form if letter.isalpha()]
        words = [form for form in forms if any(map(str.isalpha, form)) and form[0] != "Ż"]  # it may be a name
        assert found.letters == len(letters)
        assert found.unknown == sum(letter in "мышьŻółć" for letter in letters)
        assert (found.words, found.frequent) == (len(words), sum(word.lower() == "the" for word in words))

    def test_words_that_were_met_before_count_alike(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Also if more words were met than are kept."""
        sentences = sentences_of(ENGLISH[0])
        expected = english().language.count(sentences)
        monkeypatch.setattr("easyfirst.text.language.MAX_JUDGED", 3)
        judge = replace(english().language)
        assert [judge.count(sentences), judge.count(sentences)] == [expected, expected]

    def test_counts_add_up(self) -> None:
        sentences = [sentence for text in ENGLISH for sentence in sentences_of(text)]
        together = english().language.count(sentences)
        one_by_one = NOTHING
        for sentence in sentences:
            one_by_one = english().language.count([sentence], one_by_one)
        assert one_by_one == together
        assert together.words > 20

    @given(st.integers(0, 200), st.integers(0, 200), st.floats(0.05, 0.95))
    def test_the_bound_holds(self, found: int, n: int, p: float) -> None:
        """The probability of so few frequent words, added up, is no more than the bound."""
        found = min(found, n)
        exact = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(found + 1))
        bound = language._log_probability(found, n, p)  # pyright: ignore[reportPrivateUsage]
        assert exact <= math.exp(bound) * (1 + 1e-9)
        assert bound > -1e-9 or found < n * p

    def test_more_words_are_no_stronger_evidence(self) -> None:
        share = english().language.share
        assert 0.55 < share < 0.65
        for n in (200, 2000, 20000):
            assert english().language.problem(Evidence(words=n, frequent=int(0.45 * share * n))) is None
            assert english().language.problem(Evidence(words=n, frequent=int(0.25 * share * n))) == STRANGE_WORDS


def warnings_of(call: Callable[[], object]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [warning for warning in found if warning.category is LanguageWarning]


class TestWarnings:
    @pytest.mark.parametrize(
        "call",
        [
            lambda nlp, text: nlp(text),
            lambda nlp, text: nlp(text, threads=2),
            lambda nlp, text: list(nlp.read([text, text])),
            lambda nlp, text: list(nlp.read([text] * 20, threads=3)),
            lambda nlp, text: list(nlp.read(text.split(". "), one_sentence=True, batch_size=1)),
            lambda nlp, text: nlp.parse([text.split()]),
            lambda nlp, text: nlp.parse([[word] for word in text.split()]),
            lambda nlp, text: list(nlp.pipe([text.split()] * 20, threads=2)),
            lambda nlp, text: nlp.explain(text.split()),
        ],
    )
    def test_one_warning_a_call_at_the_line_of_the_caller(self, call: Callable[[Parser, str], object]) -> None:
        nlp = english()
        [warning] = warnings_of(lambda: call(nlp, FOREIGN["fr"]))
        assert warning.filename == __file__
        assert str(warning.message) == (
            "the text does not seem to be in the language of the model: it has hardly any of the most frequent words "
            "of the training data; check the text, or use another model"
        )
        assert warnings_of(lambda: call(nlp, ENGLISH[0])) == []

    def test_a_foreign_text_among_others(self) -> None:
        texts = [ENGLISH[0]] * 30
        nlp = english()
        assert warnings_of(lambda: list(nlp.read(texts))) == []
        assert len(warnings_of(lambda: list(nlp.read([*texts, FOREIGN["fr"] * 5, *texts])))) == 1
        assert warnings_of(lambda: list(nlp.read([*texts, "Мышь спит.", *texts]))) == []

    def test_warnings_come_from_the_thread_of_the_caller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        threads: list[threading.Thread] = []
        monkeypatch.setattr(warnings, "warn", lambda *_, **__: threads.append(threading.current_thread()))
        list(english().read([FOREIGN["fr"]] * 40, threads=4))
        assert threads == [threading.current_thread()]

    def test_they_can_be_errors(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error", LanguageWarning)
            with pytest.raises(LanguageWarning):
                english()(FOREIGN["zh"])


class TestCommandLine:
    @pytest.mark.parametrize("verb", ["parse", "explain"])
    def test_once_on_stderr(self, verb: str) -> None:
        run: Run = run_here
        given = "\n\n".join([FOREIGN["fr"]] * 3).encode()
        done = run(verb, "--from", "lines", stdin=given)
        assert done.returncode == 0
        assert done.stderr.count(b"warning: the text does not seem to be in the language of the model") == 1
        again = run(verb, "--from", "lines", stdin=given)
        assert again.stderr.count(b"warning:") == 1

    def test_quiet(self) -> None:
        assert run_here("parse", "-q", "--text", FOREIGN["zh"]).stderr == b""
        assert b"warning" in run_here("parse", "--text", FOREIGN["zh"]).stderr

    def test_nothing_for_english(self) -> None:
        assert run_here("parse", "--text", ENGLISH[0]).stderr == b""


def test_the_server_answers_with_warnings() -> None:
    answerer = Answerer(english(), Limits())
    bodies = (FOREIGN["zh"], ENGLISH[0])
    requests = [read_request(f'{{"text": "{text}"}}'.encode(), english(), Limits()) for text in bodies]
    foreign, plain = answerer(requests)
    assert not isinstance(foreign, Exception)
    assert not isinstance(plain, Exception)
    assert plain.warnings == ()
    [warning] = foreign.warnings
    assert STRANGE_LETTERS in warning
    form = Form.of(english())
    assert f"Warning: {warning}." in draw_page(form, name="en", answer=foreign)
    assert 'class="error"' not in draw_page(form, name="en", answer=plain)
