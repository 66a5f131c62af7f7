"""Tables of a state, by their versions; each version is the one before and some statements.

`state` is one row: `serial` counts answers that were settled ever, `kept` the bytes of `spare`, and
`arrived` jobs. `spare` lists answers that no job names: when there is no more room, these go, by
their places. A job `waits` until its answer is kept or it has a problem; its query goes then.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 2
SQLITE: Final = {
    1: """
CREATE TABLE salt (salt TEXT NOT NULL);
CREATE TABLE given (
    kind TEXT NOT NULL, name TEXT NOT NULL, given INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE answers (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    name BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    answer BLOB NOT NULL
);
""",
    2: """
CREATE TABLE state (serial INTEGER NOT NULL, kept INTEGER NOT NULL, arrived INTEGER NOT NULL);
INSERT INTO state SELECT
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'answers'), 0),
    (SELECT coalesce(sum(bytes), 0) FROM answers),
    0;
CREATE TABLE spare (place INTEGER PRIMARY KEY, bytes INTEGER NOT NULL);
INSERT INTO spare SELECT place, bytes FROM answers;
CREATE TABLE jobs (
    place INTEGER PRIMARY KEY,
    name BLOB NOT NULL,
    holder TEXT NOT NULL,
    model TEXT NOT NULL,
    keys TEXT,
    query_sha256 TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    room INTEGER NOT NULL,
    made REAL NOT NULL,
    problem TEXT,
    waits INTEGER NOT NULL,
    UNIQUE (holder, name)
);
CREATE INDEX jobs_by_name ON jobs (name);
CREATE INDEX jobs_by_room ON jobs (holder, room);
CREATE INDEX jobs_that_wait ON jobs (holder, place) WHERE waits = 1;
CREATE TABLE queries (place INTEGER PRIMARY KEY, query BLOB NOT NULL);
""",
}
"""What makes each version of a file of the one before; 1 is made of nothing."""
POSTGRES: Final = {
    2: """
CREATE TABLE version (version BIGINT NOT NULL);
INSERT INTO version VALUES (2);
CREATE TABLE salt (salt TEXT NOT NULL);
CREATE TABLE given (
    kind TEXT NOT NULL, name TEXT NOT NULL, given BIGINT NOT NULL, PRIMARY KEY (kind, name)
);
CREATE TABLE answers (
    place BIGINT PRIMARY KEY,
    name BYTEA NOT NULL UNIQUE,
    bytes BIGINT NOT NULL,
    answer BYTEA NOT NULL
);
ALTER TABLE answers ALTER answer SET STORAGE EXTERNAL;
CREATE TABLE state (serial BIGINT NOT NULL, kept BIGINT NOT NULL, arrived BIGINT NOT NULL);
INSERT INTO state VALUES (0, 0, 0);
CREATE TABLE spare (place BIGINT PRIMARY KEY, bytes BIGINT NOT NULL);
CREATE TABLE jobs (
    place BIGINT PRIMARY KEY,
    name BYTEA NOT NULL,
    holder TEXT NOT NULL,
    model TEXT NOT NULL,
    keys TEXT,
    query_sha256 TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    room BIGINT NOT NULL,
    made DOUBLE PRECISION NOT NULL,
    problem TEXT,
    waits BIGINT NOT NULL,
    UNIQUE (holder, name)
);
CREATE INDEX jobs_by_name ON jobs (name);
CREATE INDEX jobs_by_room ON jobs (holder, room);
CREATE INDEX jobs_that_wait ON jobs (holder, place) WHERE waits = 1;
CREATE TABLE queries (place BIGINT PRIMARY KEY, query BYTEA NOT NULL);
ALTER TABLE queries ALTER query SET STORAGE EXTERNAL;
""",
}
"""The same of PostgreSQL, which has states since version 2."""
