"""How people turn to a further question, ask, and point back, in English, German, Chinese and Korean: data."""

import re


def _any_of(*forms: str) -> re.Pattern[str]:
    """One pattern of several; each is a pattern of its own."""
    return re.compile("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


_MATTER = r"(?:question|thing|point|problem|request|issue)\b"

FURTHER = _any_of(
    r"(?:(?:and|then|oh|my|the|a),?\s+)*(?:"
    r"(?:first|second|third)(?:ly)?(?:\s+of\s+all)?\s*[,:]|"
    rf"(?:first|second|third|other|next|last|another|(?:just )?one more|one other|one last) {_MATTER}|"
    r"while (?:i|we)(?:'m|’m| am|'re|’re| are) (?:at it|here|on it)\b|by the way\b|btw\b|"
    r"on (?:another|a different|an unrelated) (?:note|matter|topic|subject)\b|"
    r"(?:completely |something )?(?:unrelated|different)(?:ly)?\s*[,:]|p\.?\s?s\.?\s*[:.,]?\s|apart from that\b|"
    r"besides(?! that (?:i|we)\b)\b|in addition\b|additionally\b|furthermore\b|moreover\b)",
    r"(?:erstens|zweitens|drittens|außerdem|zudem|ferner|übrigens|darüber hinaus|des weiteren|"
    r"noch (?:eine frage|etwas)|(?:eine )?(?:zweite|andere|weitere) (?:frage|sache))\b",
    "第[一二三]|其[一二三次]|另外|此外|还有|顺便|再问|另一个问题",
    "첫째|둘째|셋째|첫 ?번째|두 ?번째|세 ?번째|또한|또 |그리고|추가로|아울러|참고로",
)
"""How a sentence begins that turns to a further matter."""

ALSO = _any_of(r"(?:[\w'’]+\s+){0,3}also\b", r"auch\b")
"""The same, where the sentence asks for something: else it only goes on with the story."""

WISHES = _any_of(
    r"[?？]\s*$",
    r"\b(?:i|we)(?:'d|’d| would| should)(?: also| really| just| very much)? (?:like|love|prefer|rather|need|want)\b",
    r"\b(?:i|we)(?: also| just| only| really| still)? (?:want|need|wish|wonder)\b",
    r"\b(?:please|(?:can|could|would|will) you|is there (?:a|any|some) way|(?:tell|show|explain to) (?:me|us))\b",
    r"\bwould be (?:nice|great|good|helpful|lovely|useful)\b",
    r"\b(?:how|what|where|when|which|who|why) (?:\w+ ){0,2}?"
    r"(?:do|does|did|can|could|should|must|is|are|will|would|to)\b",
    r"\b(?:bitte|(?:möchte|will|brauche|hätte|würde|wollen)\w*|wie (?:kann|können|geht))\b",
    "请|想|希望|需要|怎么|如何|吗。?$",
    "싶|주세요|부탁|나요|까요|습니까",
)
"""What a sentence has that asks for something."""

LEANS = _any_of(
    r"\b(?:it|its|this|that|these|those|they|them|their|there|then|both|each|either|neither|else|again|afterwards|"
    r"instead|so|such|one|ones|same|he|she|his|her|him)\b",
    r"\b(?:das|dies\w*|es|sie|ihn|beide\w*|dann|dort|damit|dafür)\b",
    "它|这|那|其|此|上面|里面|办法",
    "그것|이것|그거|이거|그건|이건",
)
"""What points back at what was said before."""

GOES_ON = _any_of(r"(?:and|but|or|so)\b", r"(?:und|oder|aber)\b")
"""How a question begins that belongs to the one before it."""

ANNOUNCES = _any_of(
    r"\b(?:two|three|four|several|some|a few|a couple of|few) (?:\w+ )?"
    r"(?:things|questions|points|problems|requests|issues)\b",
    r"\b(?:zwei|drei|mehrere|einige) (?:fragen|dinge|sachen|punkte)\b",
    "[两三几]个问题",
    "(?:두|세|몇) ?가지",
)
"""What only says that several things follow."""

JOINED = _any_of(
    r",?\s+and\s+(?:also\s+)?(?=(?:how|what|why|when|which|where|who)\b)",
    r",\s+and\s+(?:also\s+)?(?=(?:can|could|do|does|is|are|may|should|will)\b)",
    r",?\s+und\s+(?=(?:wie|was|warum|wann|welche\w?|wo|wer)\b)",
    "[,，]\\s*(?:以及|并且|而且)?(?=(?:如何|怎么|怎样|为什么|什么时候|哪些))",
)
"""What joins two questions in one sentence."""
