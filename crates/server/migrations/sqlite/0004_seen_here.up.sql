-- What this server has seen itself, beside what reports say. Bits that it counted on the double's
-- path, and when a replay failed as the report says.
ALTER TABLE doubles ADD COLUMN measured_bits DOUBLE PRECISION;
ALTER TABLE doubles ADD COLUMN confirmed_at INTEGER;
-- 1 if a replay here describes the ticket, 0 if its first report does.
ALTER TABLE tickets ADD COLUMN described INTEGER NOT NULL DEFAULT 0;
-- Doubles were handed out unless an admin said no. Now an admin says yes.
UPDATE settings SET value = json_remove(value, '$.share_doubles') WHERE key = 'settings';
