-- Times are milliseconds since 1970 in UTC; days are whole days since 1970.

CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    -- An argon2id hash with its parameters.
    password TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('maintainer', 'admin')),
    created INTEGER NOT NULL,
    disabled INTEGER
);

CREATE TABLE sessions (
    -- SHA-256 of the cookie.
    digest TEXT PRIMARY KEY,
    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    csrf TEXT NOT NULL,
    created INTEGER NOT NULL,
    expires INTEGER NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);

CREATE TABLE tokens (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    -- SHA-256 of the token.
    digest TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('reporter', 'maintainer', 'admin')),
    created INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    used INTEGER,
    revoked INTEGER
);

CREATE TABLE programs (
    name TEXT PRIMARY KEY,
    first_seen INTEGER NOT NULL
);

-- Builds and versions that anything was ever heard of; whether one is newer than a fix.
CREATE TABLE known_builds (
    identity TEXT PRIMARY KEY,
    first_seen INTEGER NOT NULL
);

CREATE TABLE tickets (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    -- What failures are grouped by: program, kind and top functions, or a signature.
    grouping_key TEXT NOT NULL UNIQUE,
    program TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    words TEXT NOT NULL,
    -- The frames of the newest report, as in report.json.
    frames TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'fixed', 'regressed')),
    fixed_at INTEGER,
    fixed_build TEXT,
    -- A build in which a replay no longer fails.
    proposed_build TEXT,
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL,
    count INTEGER NOT NULL,
    -- Of the best double, in percent; above 100 if there is none.
    leak DOUBLE PRECISION NOT NULL
);
CREATE INDEX tickets_by_last_seen ON tickets (last_seen, id);
CREATE INDEX tickets_by_first_seen ON tickets (first_seen, id);
CREATE INDEX tickets_by_count ON tickets (count, id);
CREATE INDEX tickets_by_leak ON tickets (leak, id);
CREATE INDEX tickets_by_state ON tickets (state, last_seen, id);
CREATE INDEX tickets_by_program ON tickets (program, last_seen, id);
CREATE INDEX unfixed_by_last_seen ON tickets (last_seen, id) WHERE state <> 'fixed';
CREATE INDEX unfixed_by_count ON tickets (count, id) WHERE state <> 'fixed';

-- Every build has signatures of its own; several belong to one ticket.
CREATE TABLE signatures (
    signature TEXT PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    build_id TEXT,
    first_seen INTEGER NOT NULL
);
CREATE INDEX signatures_by_ticket ON signatures (ticket);

-- Words that a ticket is found by.
CREATE TABLE terms (
    term TEXT NOT NULL,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    PRIMARY KEY (term, ticket)
) WITHOUT ROWID;
CREATE INDEX terms_by_ticket ON terms (ticket, term);

-- One row for each event that was counted, so that none counts twice.
CREATE TABLE events (
    id TEXT PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    at INTEGER NOT NULL
);
CREATE INDEX events_by_time ON events (at);
CREATE INDEX events_by_ticket ON events (ticket);

CREATE TABLE daily (
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    day INTEGER NOT NULL,
    build_id TEXT NOT NULL,
    version TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (ticket, day, build_id, version)
) WITHOUT ROWID;

-- Sealed parcels that were taken, by the SHA-256 of their bytes.
CREATE TABLE parcels (
    digest TEXT PRIMARY KEY,
    ticket INTEGER REFERENCES tickets (id) ON DELETE CASCADE,
    at INTEGER NOT NULL
);
CREATE INDEX parcels_by_time ON parcels (at);
CREATE INDEX parcels_by_ticket ON parcels (ticket);

-- Reports by the SHA-256 of their file. A row outlives its file: the same report is counted once.
CREATE TABLE doubles (
    digest TEXT PRIMARY KEY,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    leak_percent DOUBLE PRECISION NOT NULL,
    leak_words TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    build_id TEXT,
    signer TEXT,
    -- 1 if a replay with the build of the report failed as it says, 0 if it did not.
    confirmed INTEGER,
    kept INTEGER NOT NULL
);
CREATE INDEX doubles_by_ticket ON doubles (ticket, leak_percent);

CREATE TABLE double_data (
    digest TEXT PRIMARY KEY REFERENCES doubles (digest) ON DELETE CASCADE,
    data BLOB NOT NULL
);

CREATE TABLE notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    author TEXT NOT NULL,
    at INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX notes_by_ticket ON notes (ticket, id);

CREATE TABLE builds (
    build_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT,
    bytes INTEGER NOT NULL,
    digest TEXT NOT NULL,
    added INTEGER NOT NULL,
    added_by TEXT NOT NULL
);

-- Only where replicas share a database; otherwise builds are files.
CREATE TABLE build_data (
    build_id TEXT NOT NULL REFERENCES builds (build_id) ON DELETE CASCADE,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (build_id, part)
);

CREATE TABLE replays (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ticket INTEGER NOT NULL REFERENCES tickets (id) ON DELETE CASCADE,
    build_id TEXT NOT NULL,
    double_digest TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done')),
    worker TEXT,
    -- A worker that is silent for longer has gone, and another may take the job.
    lease INTEGER,
    tries INTEGER NOT NULL,
    finished INTEGER,
    -- JSON.
    result TEXT
);
CREATE INDEX replays_by_ticket ON replays (ticket, id);
CREATE INDEX replays_to_do ON replays (id) WHERE state <> 'done';

CREATE TABLE links (
    ticket INTEGER PRIMARY KEY REFERENCES tickets (id) ON DELETE CASCADE,
    tracker TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('waiting', 'creating', 'open', 'closed', 'failed')),
    issue TEXT,
    url TEXT,
    lease INTEGER,
    checked INTEGER,
    error TEXT
);

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_by_time ON audit (at);
