"""What pages say that is not their text: one form a line, in the languages that were met."""

import re
from collections.abc import Iterable


def any_of(forms: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str]:
    """One of these forms, whatever the case."""
    return re.compile(f"{before}(?:{'|'.join(forms)}){after}", re.IGNORECASE)


GATE_TITLES = (
    r"just a moment",
    r"attention required",
    r"access (?:to this page has been |is |has been )?denied",
    r"are you (?:a )?(?:robot|human)",
    r"security (?:check|verification)",
    r"verify(?:ing)? (?:that )?you are",
    r"checking your browser",
    r"(?:robot|bot) (?:check|verification)",
    r"pardon our interruption",
    r"ddos[- ]guard",
    r"human verification",
    r"captcha$",
    r"one more step",
    r"please wait",
    r"403 forbidden",
    "请稍候|安全验证|人机验证",
    "잠시만 기다|보안 확인",
)
GATES = (
    r"(?:enable|turn on|activate|requires?|needs?)[^.!?]{0,60}\bjavascript",
    r"(?:activar|activer|aktivier\w{0,5}|habilit\w{1,4})[^.!?]{0,60}\bjavascript",
    r"javascript[^.!?]{0,40}(?:is disabled|disabled in|is required|must be enabled|to be enabled)",
    r"(?:verify|confirm|prove)[^.!?]{0,30}(?:are|'re|’re)(?: a)? (?:human|not a (?:ro)?bot)",
    r"not a robot",
    r"complete the (?:security check|captcha|action below)",
    r"checking (?:your browser|if the site connection)",
    r"unusual (?:traffic|activity) from",
    r"automated (?:access|requests|queries)",
    r"performance (?:&|and) security by cloudflare",
    r"ray id:",
    r"you have been blocked",
    r"access (?:is |has been )?denied",
    r"solve (?:the|this) (?:captcha|puzzle)",
    r"启用\s?javascript|人机验证|验证您是真?人",
    r"로봇이 아닙니다|자바스크립트를 (?:활성화|사용)",
)
CHALLENGES = (
    "cf-challenge", "challenge-platform", "cf_chl_", "cf-turnstile", "g-recaptcha", "h-captcha", r"hcaptcha\.com",
    "px-captcha", "_incapsula_resource", "datadome", "awswaf", "geetest",
)  # fmt: skip
WALLS = (
    (
        r"(?:subscribe|sign up|register|log ?in|sign in|become a member|create (?:a|an|your) (?:free )?account)"
        r"(?: now| today)?(?: or (?:log|sign) ?in)? (?:to|and) (?:continue|keep|read|view|access|unlock|see)"
    ),
    r"to (?:continue|keep) reading",
    r"must (?:be )?(?:log(?:ged)? ?in|sign(?:ed)? ?in|subscribe)(?! to (?:post|leave|comment|reply|vote|rate|add))",
    (
        r"(?:reserved|exclusive|exclusively|only|available)(?: only)? (?:for|to) (?:our )?(?:paying |registered )?"
        r"(?:subscribers|members)"
    ),
    r"for (?:subscribers|members) only",
    r"(?:subscribers|members)[- ]only",
    r"already a (?:subscriber|member)",
    r"(?:reached|used)(?: all)?(?: of)? your (?:monthly|free|limit of|article)",
    r"unlock (?:this|the full) (?:article|story)",
    r"登录后(?:才|可|查看|阅读)|订阅后|付费阅读",
    r"구독(?:하시면|자만|자 전용|후)|로그인(?:이 필요|\s?후)|유료\s?기사",
    r"weiterlesen mit|jetzt abonnieren|nur für abonnenten",
    r"pour lire la suite|réservé aux abonnés",
    r"solo para suscriptores",
)

_MEDIA = "whatsapp|facebook|twitter|linkedin|reddit|pinterest|telegram|flipboard|instagram|youtube|x"
_SHARING = f"share|tweet|pin|print|e-?mail|copy link|{_MEDIA}"
NOISE_LINES = (
    (
        r"(?:advertisement|advertising|sponsored(?: content| links?)?|promoted(?: content)?|ad)(?: -| –|:)?"
        r"(?: (?:continue|story continues|scroll|article continues)[\w ]{0,30})?"
    ),
    r"anzeige|werbung|publicité|publicidad|광고|广告",
    r"skip to (?:main |the )?content",
    r"(?:story|article) continues (?:below|after)[\w ]{0,30}",
    rf"(?:{_SHARING})(?:[\s,|/•·]{{1,3}}(?:this|on|via|to|article|page|story|{_SHARING})){{0,12}}",
    r"(?:print|order|request)(?: (?:article|reprints?|this page)){1,2}",
    r"(?:back to|go to) top",
    r"read (?:more|next)",
    r"view (?:all )?comments",
    r"(?:\d{1,6} )?(?:comments?|shares?|likes?|views?)",
    r"loading\W{0,3}",
    r"thank you\.?",
    r"an error has occurred[^.]{0,60}\.?",
    r"this article has been sent(?: to)?",
)
CALLS = (
    r"(?:sign up|subscribe)\b[^.]{0,60}\b(?:newsletters?|inbox|updates?|emails?|alerts?|channel|free)\b",
    r"(?:sign up|subscribe):",
    (
        r"get (?:the |our |all )?(?:latest|best|top|breaking|daily|access)\b[^.]{0,90}"
        r"\b(?:inbox|newsletters?|email|subscription)\b"
    ),
    rf"(?:follow|like|find|join|connect with) (?:us|me|him|her|them|@?\w+(?: \w+)?) on (?:{_MEDIA}|google news)\b",
    r"(?:copyright|©|\(c\))\s{0,3}(?:©|\(c\))?\s{0,3}(?:19|20)\d\d",
    r".{0,80}\ball rights reserved\b",
    r"have a tip\?",
    r"(?:this copy is )?for your personal, non-commercial use only",
    r"download (?:the|our) (?:free )?(?:app|ebook)\b",
    r"(?:support|donate)\b.{0,40}\b(?:patreon|paypal|donate|crypto)",
    r"please (?:enable|turn on) javascript",
    r"we use cookies\b",
    r"by (?:clicking|signing up|subscribing)\b[^.]{0,100}\b(?:agree|consent|accept)",
    r"email .{0,60}@.{0,80}\bfollow\b",
)
TEASERS = (
    r"related", r"read (?:more|also|next)", r"see also", r"also read", r"don['’]?t miss", r"more (?:on|from)", r"watch",
    r"you (?:may|might) (?:also )?(?:like|enjoy)", r"recommended(?: reading)?", r"lesen sie auch", r"mehr zum thema",
    r"leia (?:mais|também)", r"lea también", r"lire aussi", r"leggi anche", r"lees ook", r"читайте также",
    r"관련\s?기사", r"延伸阅读|相关阅读",
)  # fmt: skip
TAILS = (
    (
        r"(?:related|recommended|popular|trending|latest|recent|similar|featured|more)(?: \w+){0,3}"
        r" (?:articles?|stories|posts?|news|topics?|content|reading|reads|links|searches|tags|videos)"
    ),
    r"(?:popular|more|trending|latest) (?:on|from|in) .{1,40}",
    r"most (?:read|popular|viewed|shared)",
    r"you (?:may|might|could) (?:also )?(?:like|enjoy|be interested in)",
    r"(?:read|watch|up) next",
    r"don['’]?t miss",
    r"share(?: this)?(?: article| post| story| page)?",
    r"(?:leave|post|write|add) a (?:comment|reply)",
    r"(?:post )?comments?(?: \(\d+\))?",
    r"subscribe(?: to .{1,60})?",
    r"newsletter(?: sign[- ]?up)?",
    r"sign up .{0,60}",
    r"follow us",
    r"tags?",
    r"about the authors?",
    r"sponsored(?: content)?",
    r"advertisement",
    r"related",
)
