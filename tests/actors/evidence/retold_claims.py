"""Statements of made-up passages, each told honestly and told falsely, in several languages: data for tests."""

from typing import NamedTuple


class Told(NamedTuple):
    quote: str
    text: str
    honest: bool
    kind: str
    """What was done to it: a way of telling, or an alteration."""


KETTLE = "The boiler must cool down for 40 minutes before the lid may be opened."
BIKE = "Do not charge the battery below 5 °C, since this shortens its life."
LIBRARY = "Members may borrow up to eight books for four weeks; films must be returned after 3 days."
ROUTER = "The router keeps its log for 90 days and then deletes it automatically."
GATE = "If the gate does not close, clean the light barrier and press the green button twice."
LEASE = "The deposit is refunded within 14 days after the keys were handed back, unless damage was found."
SYNC = "Synchronisation is disabled by default; administrators can enable it under Settings."
RELOAD = "After a change the service re-reads its configuration within ten seconds."
MAIL = "Attachments larger than 25 MB are rejected by the mail server."
DOOR = "Only members of the night shift can open the rear door between 22:00 and 5:00."
LAMP = "The lamp is free for members; guests pay a deposit of €20."
PUMP = "The second pump runs much faster than the first, but it needs more power."
CACHE = "Deleting the cache is safe: it is rebuilt at the next start."
TWO = "You can register any of the five supported devices, but only two devices may be active at once."
PASSWORD = "A password cannot be reused and must have at least 12 characters."
ZH_LIB = "会员最多可以借阅八本书,期限为四周。"
ZH_CAR = "充电时不得启动车辆。"
KO_GATE = "문이 닫히지 않으면 센서를 닦고 녹색 버튼을 두 번 누르십시오."
DE_HEAT = "Die Heizung wird nachts automatisch abgesenkt und darf nicht abgedeckt werden."
LOCK = "The lock is released automatically at the end of the rental."
FACTOR = "The second code is mandatory for guards and optional for everyone else."
SESSION = "Sessions end after 30 minutes without input."
KEY = "Press F2 while the screen is dark."
FR_BADGE = "Le badge est désactivé après trois tentatives et doit être réactivé par l'accueil."

HONEST = (
    (KETTLE, "Let the boiler cool for 40 minutes before you open the lid.", "imperative"),
    (KETTLE, "Wait forty minutes, until the boiler is cool, then open the lid.", "number word"),
    (KETTLE, "You must not open the lid of the boiler before it has cooled for 40 min.", "negated restatement"),
    (BIKE, "Never charge the battery at less than 5 °C: it would not last as long.", "negated restatement"),
    (BIKE, "Charging the battery below 5 °C shortens its life.", "reason"),
    (BIKE, "Avoid charging the battery in the cold, below 5 °C.", "imperative"),
    (LIBRARY, "You can have at most 8 books at a time, for 4 weeks.", "number in digits"),
    (LIBRARY, "Films are due back after three days.", "number word"),
    (LIBRARY, "Members may not borrow more than eight books.", "limit"),
    (ROUTER, "The log is deleted by the router after 90 days.", "passive"),
    (ROUTER, "Log entries older than 90 days are gone, you don't have to remove them.", "consequence"),
    (GATE, "Clean the light barrier, then press the green button two times.", "imperative"),
    (GATE, "When the gate won't close, clean its light barrier first.", "imperative"),
    (LEASE, "You get the deposit back within two weeks of handing back the keys if there is no damage.", "unit"),
    (LEASE, "The deposit is refunded in at most 14 days, except when damage was found.", "limit"),
    (SYNC, "Synchronisation is off by default, but an administrator can turn it on in the settings.", "synonym"),
    (SYNC, "Ask an administrator to enable synchronisation: it is not enabled by default.", "negated restatement"),
    (RELOAD, "No restart is needed: the service re-reads its configuration within 10 seconds.", "consequence"),
    (RELOAD, "You do not need to restart the service after a change.", "consequence"),
    (MAIL, "The mail server does not accept attachments of more than 25 MB.", "negated restatement"),
    (MAIL, "Your attachment must not exceed 25 megabytes.", "limit"),
    (DOOR, "Nobody but members of the night shift can open the rear door from 22:00 to 5:00.", "limit"),
    (DOOR, "From 22:00 the rear door opens for the night shift only.", "limit"),
    (LAMP, "Members need not pay for the lamp.", "consequence"),
    (LAMP, "As a guest you leave a deposit of 20 euros.", "unit"),
    (PUMP, "The first pump is slower than the second.", "contrary of both"),
    (PUMP, "The second pump takes more power.", "shortened"),
    (CACHE, "You can safely delete the cache.", "synonym"),
    (CACHE, "No data is lost when you delete the cache, as it is built anew.", "consequence"),
    (TWO, "No more than two devices can be active at once, although five may be registered.", "limit"),
    (TWO, "Only 2 of your devices may be active at the same time.", "number in digits"),
    (PASSWORD, "Choose a new password with 12 characters or more; an old one does not work again.", "imperative"),
    (PASSWORD, "It is not possible to use a password twice.", "negated restatement"),
    (LOCK, "You don't need to release the lock yourself.", "consequence"),
    (FACTOR, "If you are a guard, the second code is mandatory.", "shortened"),
    (SESSION, "If you do nothing for half an hour, you are logged out.", "number word"),
    (KETTLE, "Der Kessel muss 40 Minuten abkühlen, bevor man den Deckel öffnet.", "translated"),
    (BIKE, "Laden Sie den Akku nicht bei weniger als 5 °C.", "translated"),
    (MAIL, "Anhänge über 25 MB nimmt der Server nicht an.", "translated"),
    (LIBRARY, "Höchstens acht Bücher für vier Wochen.", "translated"),
    (SYNC, "La synchronisation est désactivée par défaut.", "translated"),
    (ROUTER, "El registro se borra automáticamente a los 90 días.", "translated"),
    (GATE, "绿色按钮要按两次。", "translated"),
    (PASSWORD, "密码至少要有12个字符，不能重复使用。", "translated"),
    (ROUTER, "로그는 90일 후에 자동으로 삭제됩니다.", "translated"),
    (ZH_LIB, "最多借8本，四周内归还。", "number in digits"),
    (ZH_CAR, "充电的时候不要启动车辆。", "imperative"),
    (ZH_CAR, "Do not start the car while it is charging.", "translated"),
    (KO_GATE, "센서를 닦은 뒤 녹색 버튼을 2번 누르세요.", "number in digits"),
    (KO_GATE, "Wipe the sensor and press the green button twice.", "translated"),
    (DE_HEAT, "Decken Sie die Heizung nicht ab.", "imperative"),
    (DE_HEAT, "The heating must not be covered.", "translated"),
    (FR_BADGE, "Après 3 tentatives, le badge ne fonctionne plus.", "number in digits"),
)
ALTERED = (
    (KETTLE, "The boiler must cool down for 14 minutes before the lid may be opened.", "number"),
    (KETTLE, "Open the lid after fourteen minutes.", "number"),
    (BIKE, "Charge the battery below 5 °C, this prolongs its life.", "negation dropped"),
    (BIKE, "Charging the battery below 15 °C shortens its life.", "number"),
    (LIBRARY, "Films must be returned after three weeks.", "unit"),
    (ROUTER, "The router keeps its log for 9 days.", "number"),
    (GATE, "Press the green button three times.", "number"),
    (LEASE, "The deposit is not refunded after the keys were handed back.", "negation added"),
    (LEASE, "The deposit is refunded within 41 days.", "number"),
    (RELOAD, "The service does not re-read its configuration.", "negation added"),
    (DOOR, "Members of the night shift cannot open the rear door.", "negation added"),
    (LAMP, "Guests pay a deposit of €200.", "number"),
    (PASSWORD, "A password can be reused.", "negation dropped"),
    (SESSION, "Sessions never end.", "negation added"),
    (KEY, "Press F12 while the screen is dark.", "name"),
    (KETTLE, "Der Kessel muss 14 Minuten abkühlen.", "number"),
    (BIKE, "Laden Sie den Akku bei weniger als 5 °C auf.", "negation dropped"),
    (ROUTER, "El registro nunca se borra.", "negation added"),
    (GATE, "绿色按钮要按三次。", "number"),
    (PASSWORD, "密码可以重复使用，至少8个字符。", "number"),
    (ROUTER, "로그는 30일 후에 삭제됩니다.", "number"),
    (ZH_LIB, "最多借十本。", "number"),
    (ZH_CAR, "充电时可以启动车辆。", "negation dropped"),
    (ZH_CAR, "Start the car while it is charging.", "negation dropped"),
    (KO_GATE, "녹색 버튼을 세 번 누르십시오.", "number"),
    (DE_HEAT, "Decken Sie die Heizung ab.", "negation dropped"),
    (FR_BADGE, "Le badge est désactivé après cinq tentatives.", "number"),
)
TOLD = (
    *(Told(*each[:2], honest=True, kind=each[2]) for each in HONEST),
    *(Told(*each[:2], honest=False, kind=each[2]) for each in ALTERED),
)
UNDECIDED = frozenset(
    {
        "Members may not borrow more than eight books.",
        "It is not possible to use a password twice.",
        "If you do nothing for half an hour, you are logged out.",
        "A password can be reused.",
        "Sessions never end.",
        "Laden Sie den Akku bei weniger als 5 °C auf.",
        "El registro nunca se borra.",
        "Start the car while it is charging.",
        "Decken Sie die Heizung ab.",
    }
)
"""What rules take for the contrary of what it is: somebody who understands it has to read it."""
