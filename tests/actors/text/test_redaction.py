"""What is taken out of a trace, and what must stay in it."""

import pytest

from actors.text.redaction import find_rules, redact


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("write to jane.doe+x@mail.example.org today", "write to [e-mail] today"),
        ("请发到zhang.wei@example.cn。", "请发到[e-mail]。"),
        ("call +49 30 1234 5678 now", "call [phone number] now"),
        ("我的电话是13812345678，谢谢", "我的电话是[phone number]，谢谢"),
        ("ring (555) 123-4567", "ring [phone number]"),
        ("座机 010-12345678", "座机 [phone number]"),
        ("身份证 11010519491231002X", "身份证 [identity number]"),
        ("my card 4111 1111 1111 1111 was charged", "my card [card number] was charged"),
        ("key sk-proj-abcdefghijklmnopqrstuv1234 leaked", "key [key] leaked"),
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [token]"),
        ("password=hunter", "password=[secret]"),
        ("Password: s3cret!", "Password: [secret]"),
        ('{"password": "hunter", "user": "jo"}', '{"password": "[secret]", "user": "jo"}'),
        ("密码是abc12345", "密码是[secret]"),
        (f"terminus_0123456789ab_{'aB3_-' * 8}xyz works", "[key] works"),
        ("set tvly-dev-abcdefghij0123456789", "set [key]"),
        ("see https://user:pw12345@host/path", "see https://user:[secret]@host/path"),
        ("redis://:pw12345@10.0.0.5:6379/0", "redis://:[secret]@10.0.0.5:6379/0"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [token]"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', '{"authorization": "Basic [token]"}'),
        ("my password is hunter2abc.", "my password is [secret]."),
        ("the password was hunter2!", "the password was [secret]!"),
        ("the password is s3cr3t!9", "the password is [secret]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", "[key]"),
    ],
)
def test_secrets_and_personal_data_are_taken_out(text: str, kept: str) -> None:
    assert redact(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "order 20240517123456 has not arrived",
        "订单号：13812345678",
        "order #4111111111111112 was paid twice",
        "on 2024-05-17 at 12:30:45, and again 17.05.2024",
        "《劳动合同法》第三十九条, article 39(2)",
        "（2021）京01民终12345号",
        "it costs 1,234,567.89 EUR, or 12 345.00",
        "110105194912310021 is no identity number",
        "version 10.15.7, build 19H2026",
        "192.168.100.200 does not answer",
        "the password is wrong and the token is expired",
        "Password: see the manual",
        "the password is wrong",
        "my password is wrong!! please help",
        "the password is 12 letters long",
        "https://host:8080/path and https://host:8080/@jo",
        "https://user@host/path, or ssh user@host /var/lib",
        "terminus_http_requests_total rises",
        "Basic authorization is needed, and basic knowledge",
        "follow @terminus, or #support",
        "risk-assessment-of-the-new-building",
    ],
)
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("the token has expired", ["secret"]),
        ("mail @support", ["e-mail"]),
        ("call 010 1234 5678", ["phone number"]),
        ("on 2024-05-17 an engineer came", []),
    ],
)
def test_a_rule_looks_only_at_text_that_bears_one_of_its_marks(text: str, rules: list[str]) -> None:
    assert [rule.name for rule in find_rules(text.encode())] == rules
