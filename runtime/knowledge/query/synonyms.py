"""What users say and what manuals write: general words of computing, with what a manual may call the same."""

from actors.text.tokenizer import stem

_WORDS = """
login: log authenticate connect connection authentication record write logging; password: credential authentication
kill: terminate cancel abort stop; killer: killed kill; big: size large; large: size big; huge: large size
ram: memory; memory: ram buffer; cpu: processor core; split: partition divide; delete: remove drop truncate
erase: delete remove drop; remove: delete drop; tls: ssl encryption; ssl: tls; certificate: cert ssl
encrypt: ssl encryption; account: role user; user: role; customer: user tenant; tenant: user
right: privilege permission; permission: privilege grant access; access: privilege grant; allow: permit grant enable
forbid: revoke deny; backup: dump archive; dump: backup; copy: replicate duplicate clone; replica: standby replication
standby: replica; second: standby seconds milliseconds time; restore: recover recovery; recover: restore recovery
slow: performance speed; speed: performance fast; fast: performance speed; hang: block wait stuck idle
stuck: block wait; hanging: idle blocked wait; stop: terminate cancel abort timeout shutdown
limit: maximum max restriction; raise: increase; grow: increase; save: store; store: save storage
notification: notify; message: notify
session: connection backend process; connection: session connect; connect: connection; crash: failure abort
fail: error failure; failing: error; upsert: conflict; exists: conflict already; exist: conflict
already: conflict exist; move: migrate transfer upgrade; version: upgrade release; newer: upgrade later
upgrade: migrate; enforce: policy constraint force; force: require enforce; require: force; disk: storage space file
space: disk storage; storage: disk; client: connection; machine: host; computer: host machine
setting: parameter configuration; option: parameter; configure: configuration parameter setting; cache: buffer
return: reclaim release; back: restore reclaim; cost: time expensive; duration: time; ask: query request
query: statement; statement: query; sql: statement; command: statement; itself: automatically automatic auto
increment: sequence autoincrement; automatically: autoincrement auto; keep: retain; hold: lock retain
change: alter modify set; overall: total; total: cumulative; search: find match; looking: search find
word: lexeme text; document: text; load: import copy; import: load copy; export: dump copy
count: increment autoincrement sequence; number: sequence; automatic: default auto; wrong: corrupt incorrect
broken: corrupt; corrupt: damage; block: lock wait; blocking: lock blocked; lock: lock
writers: write writes insert update; writer: write insert; month: range date; date: time timestamp
time: timestamp duration; clock: time timestamp; edit: alter modify; rename: alter; create: add new; add: create
new: create; busy: concurrent; simultaneously: concurrent; parallel: concurrent jobs; downtime: online concurrent
check: verify validate; verify: check validation; test: check; program: application; app: application
text: string character; letter: character; folder: directory; directory: folder; path: directory
server: instance cluster; instance: server cluster
show: display list; list: show display; see: show view display; measure: statistics track
monitor: statistics activity; statistic: stats; spent: time; warn: warning; warning: warn; full: space exhausted
queue: queue skip; many: maximum limit; unique: distinct duplicate; duplicate: unique distinct
twice: duplicate unique; there: exists; safe: consistent; only: restrict; restrict: limit policy; hide: restrict policy
own: owner; follow: replicate standby streaming; arrive: insert trigger; row: tuple record; record: row; column: field
field: column; formula: expression; schedule: interval; undo: rollback; rollback: abort undo; revert: rollback restore
yesterday: point; rotate: rotation; plan: explain planner; picks: planner chooses; planner: explain plan optimizer
pick: choose; why: reason; drawback: limitation disadvantage restriction caveat; caveat: limitation
disadvantage: drawback limitation caveat; limitation: caveat; advantage: benefit; benefit: advantage
"""


def _table() -> dict[str, tuple[str, ...]]:
    table: dict[str, dict[str, None]] = {}
    for line in _WORDS.replace("\n", ";").split(";"):
        head, _, others = line.partition(":")
        if head.strip():
            key = stem(head.strip())
            table.setdefault(key, {}).update(dict.fromkeys(s for w in others.split() if (s := stem(w)) != key))
    return {key: tuple(others) for key, others in table.items()}


SYNONYMS = _table()
"""Stem of a user's word -> stems of the words that a manual may use for it."""
