UPDATE tickets SET leak = COALESCE(
    (SELECT leak_percent FROM doubles WHERE ticket = tickets.id AND kept = 1
     ORDER BY COALESCE(confirmed, 1) DESC, leak_percent, at LIMIT 1), 1000);
DROP INDEX doubles_by_ticket;
CREATE INDEX doubles_by_ticket ON doubles (ticket, leak_percent);
ALTER TABLE doubles DROP COLUMN leak_bits;
