-- A state of version 1, as that version wrote it: budgets, and three answers, the first of which went.
PRAGMA application_id = 1751479139;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE answers (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    name BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    answer BLOB NOT NULL
);
INSERT INTO "answers" VALUES(2,X'0000000000000000000000000000000000000000000000000000000000000002',6,X'7365636F6E64');
INSERT INTO "answers" VALUES(3,X'0000000000000000000000000000000000000000000000000000000000000003',5,X'7468697264');
CREATE TABLE given (
    kind TEXT NOT NULL, name TEXT NOT NULL, given INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
INSERT INTO "given" VALUES('model','abababababababababababababababababababababababababababababababab',3);
INSERT INTO "given" VALUES('token','clinic',3);
INSERT INTO "given" VALUES('weights','w',12);
CREATE TABLE salt (salt TEXT NOT NULL);
INSERT INTO "salt" VALUES('5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a');
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('answers',3);
COMMIT;
