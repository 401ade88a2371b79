-- Doubles may be shorter than their originals, and percentages of unlike lengths do not compare:
-- doubles go by the bits that they reveal. Those of old reports are in their words, `exactly 32.24
-- bits` or `at most …` or `about …`.
ALTER TABLE doubles ADD COLUMN leak_bits DOUBLE PRECISION NOT NULL DEFAULT 0;
UPDATE doubles SET leak_bits =
    COALESCE(substring(leak_words FROM '[0-9]{1,15}(?:[.][0-9]{1,6})?')::DOUBLE PRECISION, 0);
DROP INDEX doubles_by_ticket;
CREATE INDEX doubles_by_ticket ON doubles (ticket, leak_bits);
UPDATE tickets SET leak = COALESCE(
    (SELECT leak_bits FROM doubles WHERE ticket = tickets.id AND kept = 1
     ORDER BY COALESCE(confirmed, 1) DESC, leak_bits, at LIMIT 1), 1e300);
