"""What counts as a word, in the scripts that have to work."""

import pytest

from actors.text.tokenizer import stem, tokens


@pytest.mark.parametrize(
    ("forms", "other"),
    [
        (("vacuum", "vacuumed", "vacuuming", "vacuums"), "vacuity"),
        (("connection", "connections", "connect", "connected"), "context"),
        (("policy", "policies"), "police"),
    ],
)
def test_forms_of_a_word_share_a_stem_that_others_do_not(forms: tuple[str, ...], other: str) -> None:
    assert len({stem(form) for form in forms}) == 1
    assert stem(other) != stem(forms[0])


def test_stop_words_vanish_also_with_a_possessive() -> None:
    assert tokens("How do I change somebody's password?") == tokens("change password")


def test_identifiers_are_split_and_accents_and_widths_folded() -> None:
    assert tokens("pg_hba.conf") == ["pg", "hba", "conf"]
    assert tokens("Café ＶＰＮ") == tokens("cafe vpn")


def test_chinese_and_korean_become_pairs_of_characters() -> None:
    assert tokens("重置密码") == ["重置", "置密", "密码"]
    assert tokens("비밀번호를") == ["비밀", "밀번", "번호", "호를"]
    assert tokens("VPN配置") == ["vpn", "配置"]


def test_decomposed_korean_is_the_same_as_composed() -> None:
    assert tokens("비밀번호") == tokens("비밀번호")


@pytest.mark.parametrize(("one", "other"), [("Wi-Fi", "wifi"), ("e-mail", "email"), ("log-in page", "login page")])
def test_short_compounds_are_found_in_either_spelling(one: str, other: str) -> None:
    assert set(tokens(other)) <= set(tokens(one))


def test_a_compound_keeps_its_longer_words() -> None:
    assert tokens("run-time") == ["runtim", "run", "time"]
    assert tokens("pg-dump-all") == ["pg", "dump"]
