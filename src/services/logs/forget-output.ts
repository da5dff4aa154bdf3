/**
 * Parts of a statement that has attempts in `tries`: their output goes with it, and what they have in the store of outputs
 * after a while, when whoever archives it has long come to an end.
 */
export const FORGET_OUTPUT = `
streams AS (DELETE FROM log_stream USING tries WHERE log_stream.attempt_id = tries.id
), segments AS (DELETE FROM log_segment USING tries WHERE log_segment.attempt_id = tries.id
), blocks AS (DELETE FROM log_block USING tries WHERE log_block.attempt_id = tries.id RETURNING attempt_id
), removal AS (
  INSERT INTO log_work (attempt_id, act, due_at)
  SELECT attempt_id, 'remove', now() + interval '20 minutes' FROM (
    SELECT attempt_id FROM blocks UNION SELECT attempt_id FROM log_work JOIN tries ON attempt_id = tries.id) AS stored
  ON CONFLICT (attempt_id) DO UPDATE SET act = excluded.act, due_at = excluded.due_at
)`
