import { buffer } from 'node:stream/consumers'
import { Readable } from 'node:stream'
import type {
  AttemptHandle, AttemptReplica, AttemptRole, AttemptSpec, LogChunk, LogOptions, LogStream, ReplicaObservation,
} from '../../src/domain/attempt.ts'
import { newId } from '../../src/domain/id.ts'
import type { MountPlan } from '../../src/domain/mount-plan.ts'
import type { SubmitContext } from '../../src/schedulers/scheduler.ts'
import type { SchedulerUnderTest } from './scheduler-under-test.ts'
import { NOTHING_STAGED } from '../support/staging.ts'

/** What a test wants to differ from a job of one role `main` with one replica. */
export interface JobShape {
  readonly mounts?: readonly MountPlan[]
  readonly env?: Readonly<Record<string, string>>
  readonly replicas?: number
  readonly workingDir?: string
  readonly graceSeconds?: number
}

/** Never aborted, and deaf to progress. */
export const patience = (): SubmitContext => ({ signal: new AbortController().signal, staging: NOTHING_STAGED, progress: () => {} })

export const handleOf = (spec: AttemptSpec): AttemptHandle => ({ attemptId: spec.attemptId, graceSeconds: spec.graceSeconds })

/** The shell commands that a contract test needs to say what a job does and to see what it did. */
export class BenchOfJobs {
  readonly #tested: SchedulerUnderTest
  readonly #image: string | null

  constructor(tested: SchedulerUnderTest, image: string | null) {
    this.#tested = tested
    this.#image = image
  }

  /** A job whose replicas each do this shell script. */
  shell(script: string, shape: JobShape = {}): AttemptSpec {
    return this.job([this.role('main', ['sh', '-c', script], shape)], shape.graceSeconds)
  }

  job(roles: readonly AttemptRole[], graceSeconds = 1): AttemptSpec {
    const installation = this.#tested.installation
    const ids = { jobId: newId('job'), attemptId: newId('att') }
    return { installation, project: 'default', jobName: 'contract', ...ids, attempt: 1, epoch: 1, graceSeconds, roles }
  }

  role(name: string, command: readonly string[], shape: JobShape = {}): AttemptRole {
    const { mounts = [], env = {}, replicas = 1, workingDir = null } = shape
    const resources = { cpus: null, memoryMiB: null, shmMiB: null, gpus: null, pids: null }
    const each = Array.from({ length: replicas }, (_, index): AttemptReplica =>
      ({ index, command, env: { ...env, BERTH_ROLE: name, BERTH_REPLICA: String(index) } }))
    return { name, image: this.#image, entrypoint: null, resources, workingDir, user: null, mounts, replicas: each }
  }

  async submit(spec: AttemptSpec): Promise<void> {
    const { scheduler } = this.#tested
    await scheduler.submit(scheduler.render(spec), patience())
  }

  /** Submits, waits for the end of all replicas and gives what was observed last. */
  async complete(spec: AttemptSpec): Promise<readonly ReplicaObservation[]> {
    await this.submit(spec)
    return this.ended(spec)
  }

  ended(spec: AttemptSpec): Promise<readonly ReplicaObservation[]> {
    const wanted = spec.roles.reduce((sum, role) => sum + role.replicas.length, 0)
    return this.observed(spec, (replicas) =>
      replicas.length === wanted && replicas.every(({ phase }) => phase !== 'pending' && phase !== 'running'))
  }

  running(spec: AttemptSpec): Promise<readonly ReplicaObservation[]> {
    return this.observed(spec, (replicas) => replicas.length > 0 && replicas.every(({ phase }) => phase === 'running'))
  }

  /** Observes until this attempt's replicas are as wanted; they come in order of role and index. */
  async observed(spec: AttemptSpec, wanted: (replicas: readonly ReplicaObservation[]) => boolean): Promise<readonly ReplicaObservation[]> {
    const stop = new AbortController()
    const timer = setTimeout(() => stop.abort(), 25_000)
    let last: readonly ReplicaObservation[] = []
    try {
      for await (const batch of this.#tested.scheduler.observe(stop.signal)) {
        last = batch.attempts.find(({ attemptId }) => attemptId === spec.attemptId)?.replicas ?? last
        if (wanted(last)) return [...last].sort((a, b) => a.role.localeCompare(b.role) || a.index - b.index)
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error
    } finally {
      clearTimeout(timer)
      stop.abort()
    }
    throw new Error(`not observed in time; last seen: ${JSON.stringify(last)}`)
  }

  /** The next complete batch of a new observation. */
  async everything(): Promise<readonly string[]> {
    const stop = new AbortController()
    for await (const batch of this.#tested.scheduler.observe(stop.signal)) {
      stop.abort()
      if (!batch.complete) throw new Error('the first batch must be complete')
      return batch.attempts.map(({ attemptId }) => attemptId)
    }
    throw new Error('observe ended')
  }

  logs(spec: AttemptSpec, options: Partial<LogOptions> = {}, signal = new AbortController().signal): AsyncIterable<LogChunk> {
    const wanted: LogOptions = { role: 'main', index: 0, from: { stdout: 0, stderr: 0 }, follow: true, ...options }
    return this.#tested.scheduler.logs(handleOf(spec), wanted, signal)
  }

  /** One stream of one replica to its end; fails on a gap, an overlap or an empty chunk. */
  async output(spec: AttemptSpec, options: Partial<LogOptions> = {}, stream: LogStream = 'stdout'): Promise<Buffer> {
    const expected = { stdout: options.from?.stdout ?? 0, stderr: options.from?.stderr ?? 0 }
    const chunks: Uint8Array[] = []
    for await (const chunk of this.logs(spec, options)) {
      if (chunk.offset !== expected[chunk.stream]) throw new Error(`${chunk.stream}: ${chunk.offset}, not ${expected[chunk.stream]}`)
      if (chunk.bytes.length === 0) throw new Error('empty chunk')
      expected[chunk.stream] += chunk.bytes.length
      if (chunk.stream === stream) chunks.push(chunk.bytes)
    }
    return buffer(Readable.from(chunks))
  }

  /** What a file in a volume holds, read by a job of its own: the ground truth that no scheduler can colour. */
  async read(volume: string, file: string): Promise<string> {
    const spec = this.shell(`cat /truth/${file} 2>/dev/null`, { mounts: [volumeAt(volume, '/truth')] })
    await this.complete(spec)
    return (await this.output(spec)).toString()
  }
}

export const volumeAt = (volume: string, path: string, readOnly = false): MountPlan => ({ via: 'named_volume', volume, path, readOnly })
