-- An older server hands out doubles unless it is told not to.
UPDATE settings SET value = ('{"share_doubles":false}'::jsonb || value::jsonb)::text
    WHERE key = 'settings';
INSERT INTO settings (key, value) VALUES ('settings', '{"share_doubles":false}')
    ON CONFLICT DO NOTHING;
ALTER TABLE tickets DROP COLUMN described;
ALTER TABLE doubles DROP COLUMN confirmed_at;
ALTER TABLE doubles DROP COLUMN measured_bits;
