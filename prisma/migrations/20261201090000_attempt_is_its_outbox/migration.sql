-- An attempt's due_at and ring_at say all that a row of the outbox said.
DROP TABLE "outbox";
