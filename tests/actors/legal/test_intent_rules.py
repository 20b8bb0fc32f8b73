"""Rule files: each rule does what its example says, and what is wrong in a file is refused with its reason."""

from pathlib import Path

import pytest

from actors.legal.intent_rules import (
    DOMAIN_FILES,
    INTENT_FILES,
    DomainFile,
    IntentFile,
    RuleFileError,
    RuleTable,
    SearchedText,
    WordCompiler,
    languages,
    load_rules,
    read_table,
)

RULES = [
    (file.stem, table) for file in sorted(INTENT_FILES.glob("*.toml")) for table in read_table(file, IntentFile).rule
]


@pytest.mark.parametrize(("language", "table"), RULES, ids=lambda each: each if isinstance(each, str) else each.name)
def test_a_rule_fits_its_example_and_not_what_it_must_not_fit(language: str, table: RuleTable) -> None:
    rule = next(each for each in load_rules(language).rules if each.name == table.name)

    assert rule.fits(SearchedText(table.example))
    assert not table.not_this or not rule.fits(SearchedText(table.not_this))


@pytest.mark.parametrize("language", sorted(languages()))
def test_no_two_rules_of_a_language_have_one_name(language: str) -> None:
    names = [each.name for each in load_rules(language).rules]

    assert len(set(names)) == len(names)


def test_every_domain_has_words_in_every_language() -> None:
    for file in DOMAIN_FILES.glob("*.toml"):
        found = {language for topic in read_table(file, DomainFile).topic for language in topic.words}
        assert found >= languages(), file.name


def test_a_language_without_rules_has_those_of_english() -> None:
    assert load_rules("xx") == load_rules("en")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("start = 1", "start"),
        ("[[rule]]\nname = 'a'\nintent = 'gossip'\nweight = 1\nexample = 'a'", "gossip"),
        ("[[rule]]\nname = 'a'\nintent = 'case_search'\nweight = 90\nexample = 'a'", "10"),
        ("[[rule]]\nname = 'a'\nintent = 'case_search'\nweigth = 1\nexample = 'a'", "weigth"),
        ("[[rule]\n", "line 1"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_name_and_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "zh.toml"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(RuleFileError, match=r"^zh\.toml: ") as caught:
        read_table(file, IntentFile)

    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("(a+)+b", "for hours"),
        (".*合同.*审查", "for hours"),
        ("合同(", "no regular expression"),
        ("(?:合同)?", "fits an empty text"),
        ("<nobody>", "names a list that is not there"),
        ("<round>", "within itself"),
    ],
)
def test_a_word_that_cannot_be_searched_safely_is_refused(word: str, reason: str) -> None:
    compiler = WordCompiler("zh.toml", "zh", {"round": ["<round>"]})

    with pytest.raises(RuleFileError, match=reason):
        compiler.compile([word])


def test_a_word_of_a_spaced_language_is_no_part_of_another() -> None:
    assert WordCompiler("en.toml", "en", {}).compile(["sue"]).search("an issue") is None
    assert WordCompiler("zh.toml", "zh", {}).compile(["起诉"]).search("我要起诉他")


def test_a_rule_may_ask_for_several_different_words() -> None:
    rule = next(each for each in load_rules("zh").rules if each.at_least > 1)

    assert rule.fits(SearchedText("合同违约怎么办"))
    assert not rule.fits(SearchedText("合同，合同，合同怎么办"))
