"""Messages become text where the reader's language is known."""

from app.i18n import Message, best_language, translate


def test_a_message_carries_its_values_into_both_languages() -> None:
    message = Message("The body is larger than %(largest)s bytes.", largest=1000)
    assert translate(message, "en") == "The body is larger than 1000 bytes."
    assert "1000" in translate(message, "zh-CN")
    assert translate(message, "zh-CN") != translate(message, "en")


def test_a_message_inside_a_message_is_translated_too() -> None:
    outer = Message("%(inner)s", inner=Message("There is nothing here."))
    assert translate(outer, "zh-CN") == translate(Message("There is nothing here."), "zh-CN")


def test_the_preferred_supported_language_wins() -> None:
    assert best_language("fr-FR, zh-TW;q=0.8, en;q=0.5") == "zh-CN"
    assert best_language("en-US,zh-CN;q=0.9") == "en"
    assert best_language("fr, de") is None
    assert best_language("zh;q=nonsense, en") == "en"
    assert best_language(None) is None
