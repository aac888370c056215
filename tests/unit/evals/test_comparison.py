import pytest

from evals.comparison import contains, length, overlap_f1, tokens


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("The  Quick-Brown fox!", "en", ["quick", "brown", "fox"]),
        ("Der Hund und die Katze", "de", ["hund", "und", "katze"]),
        ("La casa, un perro", "es", ["casa", "perro"]),
        ("المدينة في البحر", "ar", ["مدينة", "في", "بحر"]),
        ("２０１６年 北京。", "zh", ["2", "0", "1", "6", "年", "北", "京"]),
        ("$1,000 theory", "en", ["1", "000", "theory"]),
        ("Das Haus", "fr", ["das", "haus"]),
    ],
)
def test_text_is_normalised_as_squad_and_mlqa_do(text: str, lang: str, expected: list[str]) -> None:
    assert tokens(text, lang) == expected


def test_a_gold_answer_is_contained_whatever_its_case_and_punctuation() -> None:
    assert contains("They gave up 308 points (sixth in the league).", ["308 Points"], "en")


def test_a_part_of_a_word_is_no_gold_answer() -> None:
    assert not contains("They scored 3081 points.", ["308"], "en")


def test_any_gold_answer_will_do() -> None:
    assert contains("On the Seine.", ["Spree", "the Seine"], "en")


def test_a_language_without_spaces_is_compared_by_the_character() -> None:
    assert contains("黑豹队的防守只丢了 308分。排名第六。", ["308 分"], "zh")


def test_a_gold_answer_of_nothing_but_punctuation_is_never_contained() -> None:
    assert not contains("What?", ["?!"], "en")


def test_overlap_is_the_f1_of_shared_words_with_the_closest_gold() -> None:
    # two of three words said are among the two of the gold: precision 2/3, recall 1
    assert overlap_f1("cold grey sea", ["warm lake", "grey sea"], "en") == pytest.approx(0.8)


def test_a_repeated_word_counts_as_often_as_both_have_it() -> None:
    assert overlap_f1("sea sea sea", ["sea"], "en") == pytest.approx(0.5)


def test_nothing_shared_is_no_overlap() -> None:
    assert overlap_f1("", ["sea"], "en") == 0.0


@pytest.mark.parametrize(("text", "lang", "expected"), [("two words", "en", 2), ("北京 市", "zh", 3)])
def test_length_is_words_or_characters(text: str, lang: str, expected: int) -> None:
    assert length(text, lang) == expected
