import pytest

from services.answer.words import Stemmer, stem, tokens


@pytest.mark.parametrize(
    "family",
    [
        ("day", "days"),
        ("policy", "policies"),
        ("carry", "carries", "carried", "carrying"),
        ("expense", "expenses", "expensed"),
        ("reimburse", "reimbursed", "reimbursing", "reimbursement"),
        ("plan", "planned", "planning", "plans"),
        ("access", "accesses", "accessed"),
        ("box", "boxes"),
        ("approve", "approves", "approved", "approving"),
        ("call", "called", "calling"),
    ],
)
def test_forms_of_a_word_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize("word", ["bus", "is", "red", "ring", "king", "v2", "25", "gas"])
def test_a_short_word_is_left_alone(word: str) -> None:
    assert stem(word) == word


def test_stop_words_are_no_content() -> None:
    assert Stemmer()("How many days of the annual leave do I have?") == ["day", "annual", "leav"]


def test_numbers_and_possessives_are_read_as_one_word() -> None:
    assert tokens("The manager\u2019s 2,000.50 EUR") == ["the", "manager", "2,000.50", "eur"]
