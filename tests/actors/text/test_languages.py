"""The language that somebody writes in: by script, by common words, and what a model says only if it is one."""

import pytest

from actors.text.languages import choose_language, guess_language, is_other_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How do I change somebody's password?", "en"),
        ("My scanner jams every ten minutes", "en"),
        ("Wie setze ich mein Passwort zurück?", "de"),
        ("Der Drucker im dritten Stock druckt nicht", "de"),
        ("如何重置密码", "zh"),
        ("Outlook 里的会议邀请打不开", "zh"),
        ("Outlook 메일이 안 열립니다", "ko"),
        ("What does '설정' mean in the menu of the phone?", "en"),
        ("How do I reset it? 另外，会议室怎么预订？打印机又坏了。", "zh"),
        ("Hallo, mein VPN trennt sich immer von allein. Außerdem: 会议室怎么预订？", "de"),
        ("把 Word 文档 export 成 PDF 的时候 Acrobat 报错 access denied", "zh"),
        ("Comment configurer le téléphone sur mon bureau ?", "fr"),
        ("プリンターが動きません", "ja"),
        ("Scanner offline", ""),
        ("no dial tone", ""),
        ("No sound, no picture", ""),
        ("la la land", ""),
        ("No es posible imprimir en la red", "es"),
        ("The phone has no dial tone", "en"),
        ("12345", ""),
        ("", ""),
    ],
)
def test_most_of_a_text_tells_its_language(text: str, language: str) -> None:
    assert guess_language(text) == language


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("pl", "pl"), ("DE_at", "de"), (" nl ", "de"), ("ko", "de"), ("zh-CN", "de"), ("fr", "de"),
        ("", "de"), ("xx", "de"), ("German", "de"), ("de; drop it", "de"), ("{language}", "de"), ("-", "de"),
    ],
)  # fmt: skip
def test_a_model_is_believed_where_it_names_a_language_that_the_text_may_be_in(code: str, language: str) -> None:
    assert choose_language(code, "Wie setze ich mein Passwort zurück?") == language


@pytest.mark.parametrize(
    ("text", "languages", "other"),
    [
        ("Das ist so, wie es in der Anleitung steht.", ("en",), True),
        ("Das ist so, wie es in der Anleitung steht.", ("en", "de"), False),
        ("按住红色按钮三秒钟。", ("en", "en"), True),
        ("按住红色按钮三秒钟。", ("ja",), False),
        ("The press is to be moved by two people.", ("zh", "zh"), True),
        ("VPN Client 4.2", ("de", "de"), False),
        ("Das ist so, wie es in der Anleitung steht.", ("pl",), False),
        ("Das ist so, wie es in der Anleitung steht.", ("",), False),
        ("", ("en",), False),
    ],
)
def test_another_language_is_one_beyond_doubt(text: str, languages: tuple[str, ...], other: bool) -> None:
    assert is_other_language(text, *languages) is other
