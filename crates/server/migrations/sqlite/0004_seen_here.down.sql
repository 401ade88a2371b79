-- An older server hands out doubles unless it is told not to.
UPDATE settings SET value = json_set(value, '$.share_doubles', json('false')) WHERE key = 'settings'
    AND json_extract(value, '$.share_doubles') IS NULL;
INSERT INTO settings (key, value) SELECT 'settings', '{"share_doubles":false}'
    WHERE NOT EXISTS (SELECT 1 FROM settings WHERE key = 'settings');
ALTER TABLE tickets DROP COLUMN described;
ALTER TABLE doubles DROP COLUMN confirmed_at;
ALTER TABLE doubles DROP COLUMN measured_bits;
