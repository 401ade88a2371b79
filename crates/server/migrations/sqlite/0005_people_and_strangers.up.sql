-- Who answers for a token: the user who made it, also by another token of theirs. Tokens of the command
-- line are the server's own.
ALTER TABLE tokens ADD COLUMN owner TEXT;
UPDATE tokens SET owner = created_by WHERE created_by IN (SELECT name FROM users);
UPDATE tokens SET owner = (SELECT MIN(made.owner) FROM tokens made
    WHERE 'token ' || made.name = tokens.created_by) WHERE created_by LIKE 'token %';
-- What strangers did, counted by the hour: the log of what people did is beside it, and whatever
-- strangers do takes no room there.
CREATE TABLE noise (
    hour INTEGER NOT NULL,
    action TEXT NOT NULL,
    target TEXT NOT NULL,
    count INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (hour, action, target)
) WITHOUT ROWID;
INSERT INTO noise (hour, action, target, count, last)
    SELECT at / 3600000, action, '', COUNT(*), MAX(at) FROM audit
    WHERE who = 'nobody' OR who = 'reporter' GROUP BY at / 3600000, action;
DELETE FROM audit WHERE who = 'nobody' OR who = 'reporter';
