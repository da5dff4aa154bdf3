import type { Pool } from 'pg'
import type { ReplicaObservation } from '../../domain/attempt.ts'

/** An ended replica is never overwritten by an older view of it. */
const RECORD = `
INSERT INTO replica AS r (attempt_id, role, index, phase, exit_code, started_at, ended_at, node, native_id, native_reason, failure)
SELECT $1, o.role, o.index, o.phase, o."exitCode", o."startedAt", o."endedAt", o.node, o."nativeId", o."nativeReason", o.failure
FROM jsonb_to_recordset($2::jsonb) AS o(role text, index int, phase text, "exitCode" int, "startedAt" timestamptz,
  "endedAt" timestamptz, node text, "nativeId" text, "nativeReason" text, failure text)
ON CONFLICT (attempt_id, role, index) DO UPDATE SET
  phase = excluded.phase, exit_code = excluded.exit_code, started_at = excluded.started_at, ended_at = excluded.ended_at,
  node = excluded.node, native_id = excluded.native_id, native_reason = excluded.native_reason, failure = excluded.failure
WHERE r.phase NOT IN ('succeeded', 'failed')`

/** Keeps the last that was seen of each replica. */
export async function recordReplicas(pool: Pool, attemptId: string, replicas: readonly ReplicaObservation[]): Promise<void> {
  await pool.query({ name: 'record_replicas', text: RECORD, values: [attemptId, JSON.stringify(replicas)] })
}
