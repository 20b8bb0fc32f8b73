"""How people turn to a further question, ask, and point back, in English, German, Chinese and Korean: data."""

import re

from actors.text.word_patterns import compile_words


def _any_of(*forms: str) -> re.Pattern[str]:
    """One pattern of several; each is a pattern of its own."""
    return compile_words("|".join(f"(?:{form})" for form in forms), re.IGNORECASE)


_MATTER = r"(?:question|thing|point|problem|request|issue)\b"

FURTHER = _any_of(
    r"(?:(?:and|then|oh|my|the|a),?\s+){0,3}(?:"
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

ALSO = _any_of(r"(?<![\w'’])(?:[\w'’]{1,40}\s+){0,3}also\b", r"auch\b")
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
    r"\b(?:dies\w*|ihn|beide\w*|dann|dort|damit|dafür|davon|daran|dabei)\b|\b(?-i:sie|ihm)\b",
    r"\bdas\b(?!\s+(?:\w+e\s+)?(?-i:[A-ZÄÖÜ]))|(?<!gibt )(?<!geht )(?<!ist )\bes\b(?! gibt)",
    "它|这|那|其|此|上面|里面|办法|^(?:根据|依据|按照|依照)[^,，?？]*$",
    "그것|이것|그거|이거|그건|이건|그게|그걸|이걸|거기",
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

_ZH_ASKS = (
    "(?:如何|怎[么样]|为什么|为何|什么|哪|谁|多少|多久|几[点时天个号月次]|何[时处]|是否|能否|可否|能不能|可不可以|"
    "有没有|要不要|会不会|是不是|可以不可以|吗|呢)"
)
_KO_ASKS = (
    "(?:어떻게|어디|언제|누가|누구|무엇|무슨|뭐|뭘|왜|얼마|몇|어느|어떤|까요|나요|가요|는지|은지|을까|습니까|ㅂ니까)"
)

JOINED = _any_of(
    r",?\s+and\s+(?:also\s+)?(?=(?:how|what|why|when|which|where|who)\b)",
    r",\s+and\s+(?:also\s+)?(?=(?:can|could|do|does|is|are|may|should|will)\b)",
    r",?\s+und\s+(?:auch\s+|außerdem\s+)?(?=(?:wie|was|warum|wieso|wann|welche\w?|wo|woher|wohin|wer|wem|wen)\b)",
    r",?\s+und\s+(?:auch\s+|außerdem\s+)?"
    r"(?=(?:kann|können|darf|dürfen|gibt|ist|sind|soll|sollen|muss|müssen|hat|haben|wird|werden|bekomme|bekommen)\b)",
    f"[,，、]?\\s*(?:以及|还有|并且|而且|另外|和|及)\\s*(?=[^,，。；？?]{{0,12}}{_ZH_ASKS})",
    f"[,，]\\s*(?=[^,，。；？?]{{0,12}}{_ZH_ASKS})",
    r"(?<=[가-힣][고며])[,，]?\s+(?!있|싶|나서|나면|난|말|보니|계)",
    r"(?<=[요까지])[,，]?\s+(?:그리고|또한|또|아울러)[,，]?\s+",
)
"""What may join two questions in one sentence; it does where each of them asks, and for something of its own."""

ASKS = _any_of(
    r"\b(?:how|what|why|when|which|where|who|whom|whose)\b",
    r"^\W*(?:and |also )*(?:can|could|do|does|did|is|are|may|should|shall|will|would|must|have|has|am)\b",
    r"\b(?:wie|was|warum|wieso|weshalb|wann|welche\w?|wo|woher|wohin|wer|wem|wen|ob)\b",
    r"^\W*(?:kann|können|könnte\w*|darf|dürfen|gibt|ist|sind|soll\w*|muss|müssen|hat|habe\w?|wird|werden|bekomme\w?|geht)\b",
    _ZH_ASKS,
    _KO_ASKS,
)
"""What a clause has that asks something, whatever mark ends it."""

TALK = _any_of(
    r"\b(?:wie|was|warum|wieso|wann|welche\w?|wo|woher|wohin|wer|wem|wen|ob|ich|wir|mir|mich|uns|man|sie|ihr|du|"
    r"mein\w*|unser\w*|ein\w*|der|die|den|dem|des|das|kann|können|könnte\w*|darf|dürfen|soll\w*|muss|müssen|ist|sind|"
    r"wird|werden|hat|habe\w?|gibt|geht|tun|tu|mache\w?|machen|lösen|beheben|finde\w?|finden|bekomme\w?|bekommen|"
    r"und|oder|auch|noch|dabei|dagegen|am besten|bitte|danke|zu|im|in|an|am|auf|für|mit|bei|von|nicht)\b",
    _ZH_ASKS,
    "请问|请|我们?|你们?|您|他们?|她|的|了|着|过|是|在|有|要|需要?|应该?|可以|可|能|会|就|都|也|还|又|再|吧|啊|么|"
    "办理?|处理|解决|处罚|负责|承担|责任|要求|这样|一下|时候|问题|原因|情况|怎样|合法|违法|做|用|去|到|给|被|把|让|对|"
    "和|与|或|及|以及|并|而|但|则|由|向|其|该|所|不|没|才|人|个",
    "어떻게|어디에?서?|언제|누가|누구\\w?|무엇\\w?|무슨|뭐|뭘|왜|얼마\\w*|몇|어느|어떤|해야|하나요|합니까|하면|되나요|될까요|"
    "됩니까|있나요|있습니까|있을까요|인가요|할까요|수|해결\\w*|처리\\w*|조치\\w*|그리고|또한?|좀|제가|저는|저희\\w*",
)
"""What says nothing of the matter in German, Chinese and Korean, as everyday words do in English."""
