"""Tables and numbered migrations of the store.

All tables are STRICT. An event's ``id`` is ``session_id << 32 | seq``: a session's events lie
together, no second index is needed, and the id serves the full-text index as its rowid.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from storage import chain
from storage.scripts import TOKENIZER

migrations = Migrations("ullage")

_FIRST = """
CREATE TABLE sources (
  id INTEGER PRIMARY KEY,
  agent TEXT,                    -- NULL: no adapter knows this file
  path TEXT NOT NULL UNIQUE,
  position TEXT,                 -- where reading goes on (JSON, storage/tail.py)
  size INTEGER NOT NULL DEFAULT 0,
  mtime_ns INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,   -- of the adapter that read it
  generation INTEGER NOT NULL DEFAULT 1, -- how often it was begun anew
  next_position INTEGER NOT NULL DEFAULT 1,
  records INTEGER NOT NULL DEFAULT 0,
  recognised INTEGER NOT NULL DEFAULT 0,
  unknown_types TEXT NOT NULL DEFAULT '{}',
  gone INTEGER NOT NULL DEFAULT 0,
  note TEXT                      -- why there is nothing to see, in words
) STRICT;

CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources(id),
  key TEXT NOT NULL,             -- distinguishes the sessions of one file
  name TEXT NOT NULL UNIQUE,     -- what a person types
  native_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  agent_version TEXT, cwd TEXT, title TEXT, model TEXT,
  relation TEXT NOT NULL DEFAULT 'main',
  parent_native_id TEXT, parent_call_id TEXT,
  family INTEGER NOT NULL,       -- the oldest session that shares native ids with this one
  turn_open INTEGER NOT NULL DEFAULT 0,
  waiting INTEGER NOT NULL DEFAULT 0,
  ended INTEGER NOT NULL DEFAULT 0,
  started_at REAL, last_event_at REAL,
  events INTEGER NOT NULL DEFAULT 0,
  last_seq INTEGER NOT NULL DEFAULT 0,
  problems INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER, tokens_source TEXT, log_window INTEGER, window INTEGER,
  history TEXT NOT NULL DEFAULT '[]',  -- tokens at the last requests, oldest first (JSON)
  counter TEXT NOT NULL,
  UNIQUE (source_id, key)
) STRICT;
CREATE INDEX sessions_by_time ON sessions(last_event_at DESC);
CREATE INDEX sessions_by_native ON sessions(native_id);

CREATE TABLE blobs (
  id INTEGER PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,   -- sha256 of the content
  size INTEGER NOT NULL,         -- bytes before compression
  data BLOB NOT NULL             -- zstd
) STRICT;

CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  source_id INTEGER NOT NULL REFERENCES sources(id),
  generation INTEGER NOT NULL,
  line INTEGER NOT NULL, offset INTEGER NOT NULL, size INTEGER NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blobs(id),
  blob_offset INTEGER NOT NULL,
  damage TEXT
) STRICT;
CREATE INDEX damaged_records ON records(source_id) WHERE damage IS NOT NULL;

CREATE TABLE record_pieces (     -- of lines above the cap: the raw, in order
  record_id INTEGER NOT NULL REFERENCES records(id),
  number INTEGER NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blobs(id),
  PRIMARY KEY (record_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
  id INTEGER PRIMARY KEY,        -- session_id << 32 | seq
  position INTEGER NOT NULL,     -- order of the fold
  generation INTEGER NOT NULL,   -- of the file, when it was last seen there
  type TEXT NOT NULL,
  native_id TEXT NOT NULL, block INTEGER NOT NULL,
  node INTEGER, op TEXT, sources TEXT,
  role TEXT, turn INTEGER, step INTEGER,
  tokens INTEGER NOT NULL, thinking_tokens INTEGER NOT NULL,
  call_tokens INTEGER NOT NULL, image_tokens INTEGER NOT NULL,
  calls TEXT, results TEXT,
  is_error INTEGER NOT NULL,
  time REAL, model TEXT, usage TEXT, request INTEGER,
  headline TEXT NOT NULL, meta TEXT,
  record_id INTEGER NOT NULL REFERENCES records(id),
  digest INTEGER NOT NULL,       -- of the raw record, to tell revisions apart
  copied INTEGER NOT NULL DEFAULT 0  -- another session of the family holds it already
) STRICT;

CREATE TABLE event_revisions (   -- earlier contents of an event
  event_id INTEGER NOT NULL, revision INTEGER NOT NULL,
  record_id INTEGER NOT NULL REFERENCES records(id),
  PRIMARY KEY (event_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE natives (           -- first holder of each globally unique native id
  key INTEGER PRIMARY KEY,       -- 64 bits of a hash of agent, native id, block
  session_id INTEGER NOT NULL
) STRICT;

CREATE TABLE operation_events (  -- the user's strand: "o1", "o2" …
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  number INTEGER NOT NULL,
  operation INTEGER NOT NULL,    -- number of the operation's first event
  after INTEGER NOT NULL,        -- the newest seq when it was made
  origin TEXT NOT NULL,
  at REAL,
  event TEXT NOT NULL,           -- SessionEvent as JSON
  PRIMARY KEY (session_id, number)
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize="unicode61 remove_diacritics 2");
INSERT INTO search (search, rank) VALUES ('automerge', 16);  -- merge seldom: ingest writes much
"""

_USAGE = """
CREATE INDEX events_with_usage ON events(  -- every column that the totals read
  position, generation, type, native_id, block, request, time, model, usage
) WHERE usage IS NOT NULL;
CREATE INDEX errors ON events(position) WHERE type = 'error';
"""


@migrations()
def m0001_first(db: Database) -> None:
    """Sources, sessions, raw records, events, the user's operations, full text."""
    for statement in _split(_FIRST):
        db.execute(statement)


@migrations()
def m0002_usage(db: Database) -> None:
    """What the providers reported and refused, found without a look at the other events."""
    for statement in _split(_USAGE):
        db.execute(statement)


_CHAIN = """
ALTER TABLE operation_events ADD COLUMN digest BLOB NOT NULL DEFAULT x'';

CREATE TABLE operation_commits ( -- one row a commit, over all sessions (storage/chain.py)
  position INTEGER PRIMARY KEY,  -- 1, 2, 3 …
  session_id INTEGER NOT NULL,   -- no reference: it says so where the session is gone
  count INTEGER NOT NULL,        -- number of the strand's newest event after it
  head BLOB NOT NULL,            -- digest of that event
  digest BLOB NOT NULL
) STRICT;

CREATE TABLE operation_heads (   -- where each chain ends
  session_id INTEGER PRIMARY KEY, -- 0: the chain of commits
  count INTEGER NOT NULL,
  digest BLOB NOT NULL
) STRICT;
"""


@migrations()
def m0003_chain(db: Database) -> None:
    """Chains the operations that there are; of what happened to them before, it tells nothing."""
    for statement in _split(_CHAIN):
        db.execute(statement)
    chain.begin(db.conn)


_OUTPUTS = """
CREATE TABLE IF NOT EXISTS outputs ( -- of tools, whole (storage/outputs.py)
  id INTEGER PRIMARY KEY,
  digest BLOB UNIQUE,            -- sha256 of the content; NULL: not finished
  size INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS output_pieces ( -- in order
  output_id INTEGER NOT NULL REFERENCES outputs(id),
  number INTEGER NOT NULL,
  blob_id INTEGER NOT NULL REFERENCES blobs(id),
  PRIMARY KEY (output_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS output_runs ( -- each time that an output came
  id INTEGER PRIMARY KEY,
  output_id INTEGER NOT NULL REFERENCES outputs(id),
  at REAL NOT NULL,
  command TEXT, exit_code INTEGER
) STRICT;
"""


@migrations()
def m0004_outputs(db: Database) -> None:
    """Whole outputs of tools."""
    for statement in _split(_OUTPUTS):
        db.execute(statement)


_DECISIONS = """
CREATE TABLE IF NOT EXISTS decisions ( -- the newest state of each (storage/decisions.py)
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  id TEXT NOT NULL,
  number INTEGER NOT NULL,       -- of the harvest that gave it
  revision INTEGER NOT NULL,
  first_seq INTEGER NOT NULL, last_seq INTEGER NOT NULL,
  point TEXT NOT NULL,           -- DecisionPoint as JSON, without its defaults
  PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS decision_harvests ( -- how far each session was read for them
  session_id INTEGER PRIMARY KEY REFERENCES sessions(id),
  number INTEGER NOT NULL,       -- how often it was begun
  generation INTEGER NOT NULL,   -- of the file
  rules TEXT NOT NULL,           -- by which it read
  fed INTEGER NOT NULL,          -- events
  last_seq INTEGER NOT NULL,
  snapshot TEXT NOT NULL         -- the stages that run (JSON)
) STRICT;
"""


@migrations()
def m0005_decisions(db: Database) -> None:
    """Decision points."""
    for statement in _split(_DECISIONS):
        db.execute(statement)


_SEARCH = f"""
CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize="{TOKENIZER}");
INSERT INTO search (search, rank) VALUES ('automerge', 16);
CREATE TABLE search_rebuild (    -- a row while there is search_words (storage/reindexing.py)
  below INTEGER NOT NULL         -- events of search_words from here on are in search, too
) STRICT;
"""  # noqa: S608 - a constant
_OLD_SEARCH = "INSERT INTO search_rebuild VALUES (9223372036854775807);"


@migrations()
def m0006_scripts(db: Database) -> None:
    """Full text of every script. What there is stays searched as it was until it is read anew,
    which takes as long as an ingest, and so is left to quiet moments."""
    if db["search_rebuild"].exists():
        return
    is_empty = db.execute("SELECT rowid FROM search LIMIT 1").fetchone() is None
    old = "DROP TABLE search" if is_empty else "ALTER TABLE search RENAME TO search_words"
    for statement in [old, *_split(_SEARCH), *([] if is_empty else [_OLD_SEARCH])]:
        db.execute(statement)


@migrations()
def m0007_words(db: Database) -> None:
    """Words of a whole transaction gather in memory before they are written."""
    db.execute("INSERT INTO search (search, rank) VALUES ('hashsize', 8388608)")


def _split(script: str) -> list[str]:
    """The statements of a script without triggers. ``executescript`` would commit first."""
    bare = "\n".join(line.split("--", 1)[0] for line in script.splitlines())
    return [statement for statement in bare.split(";") if statement.strip()]
