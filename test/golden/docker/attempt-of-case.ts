import type { AttemptRole, AttemptSpec } from '../../../src/domain/attempt.ts'
import type { Resources } from '../../../src/domain/job-spec.ts'

export const NO_LIMITS: Resources = { cpus: null, memoryMiB: null, shmMiB: null, gpus: null, pids: null }

/** An attempt of one role `trainer` with one replica that does `true` in busybox, but for what a case wants to differ. */
export function attemptOf(role: Partial<AttemptRole> = {}, attempt: Partial<AttemptSpec> = {}): AttemptSpec {
  const replicas = [{ index: 0, command: ['true'], env: {} }]
  const defaults = { entrypoint: null, resources: NO_LIMITS, workingDir: null, user: null, mounts: [] }
  return {
    installation: 'i1',
    project: 'default',
    jobId: 'job_01h455vb4pex5vsknk084sn02q',
    jobName: 'train',
    attemptId: 'att_01h455vb4pex5vsknk084sn02r',
    attempt: 1,
    epoch: 1,
    graceSeconds: 10,
    roles: [{ name: 'trainer', image: 'busybox', replicas, ...defaults, ...role }],
    ...attempt,
  }
}
