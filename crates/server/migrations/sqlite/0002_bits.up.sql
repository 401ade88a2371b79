-- Doubles may be shorter than their originals, and percentages of unlike lengths do not compare:
-- doubles go by the bits that they reveal. Those of old reports are in their words, `exactly 32.24
-- bits` or `at most …` or `about …`. What says something else, and what an older server writes in the
-- meantime, ranks behind every report that says its bits: those are 1e15 at most.
ALTER TABLE doubles ADD COLUMN leak_bits DOUBLE PRECISION NOT NULL DEFAULT 1e15;
UPDATE doubles SET leak_bits = MIN(1e15, CAST(
    replace(replace(replace(leak_words, 'exactly ', ''), 'at most ', ''), 'about ', '')
    AS DOUBLE PRECISION))
WHERE leak_words GLOB 'exactly [0-9]*' OR leak_words GLOB 'at most [0-9]*'
    OR leak_words GLOB 'about [0-9]*';
DROP INDEX doubles_by_ticket;
CREATE INDEX doubles_by_ticket ON doubles (ticket, leak_bits);
UPDATE tickets SET leak = COALESCE(
    (SELECT leak_bits FROM doubles WHERE ticket = tickets.id AND kept = 1
     ORDER BY COALESCE(confirmed, 1) DESC, leak_bits, at LIMIT 1), 1e300);
