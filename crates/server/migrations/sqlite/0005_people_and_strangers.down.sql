INSERT INTO audit (at, who, action, target, detail)
    SELECT last, CASE WHEN action = 'login.refused' THEN 'nobody' ELSE 'reporter' END, action, target,
    CAST(count AS TEXT) FROM noise;
DROP TABLE noise;
ALTER TABLE tokens DROP COLUMN owner;
