-- What the issue of a ticket is still to be told.
ALTER TABLE links ADD COLUMN news TEXT;
