import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type {
  AttemptHandle,
  AttemptReplica,
  AttemptSpec,
  LogChunk,
  LogOptions,
  ObservationBatch,
  ReplicaObservation,
} from '../../src/domain/attempt.ts'
import type { Capabilities } from '../../src/domain/capabilities.ts'
import { Readable } from 'node:stream'
import { SchedulerError, type CollectedFile, type MountPlace, type Scheduler, type SubmitContext } from '../../src/schedulers/scheduler.ts'

interface FakeReplica {
  readonly attemptId: string
  readonly log: string
  readonly files: Readonly<Record<string, string>>
  observation: ReplicaObservation
}

/**
 * A scheduler in memory that does as the job's environment tells it: FAKE_SECONDS (0) to run, FAKE_EXIT_CODE (0),
 * FAKE_LOG. Submits nothing twice, and can be told to be away.
 */
export class FakeScheduler implements Scheduler<AttemptSpec> {
  readonly kind = 'local'
  readonly startsAtSubmit = false
  readonly capabilities: Capabilities
  /** `<attempt>/<role>/<index>` of every start, in order: the ground truth. */
  readonly starts: string[] = []
  /** What every call answers with while it is set. */
  away: SchedulerError | null = null
  readonly #replicas = new Map<string, FakeReplica>()
  readonly #changes = new EventEmitter().setMaxListeners(0)
  #version = 0

  constructor(capabilities: Capabilities) {
    this.capabilities = capabilities
  }

  render(spec: AttemptSpec): AttemptSpec {
    return spec
  }

  async submit(spec: AttemptSpec, { signal }: SubmitContext): Promise<void> {
    this.#answer()
    signal.throwIfAborted()
    for (const role of spec.roles) for (const replica of role.replicas) this.#start(spec.attemptId, role.name, replica)
  }

  async *observe(signal: AbortSignal): AsyncGenerator<ObservationBatch> {
    while (!signal.aborted) {
      this.#answer()
      const version = this.#version
      yield { complete: true, attempts: this.#attempts() }
      if (version === this.#version) await Promise.race([sleep(1_000), new Promise((resolve) => this.#changes.once('change', resolve))])
    }
  }

  async *logs({ attemptId }: AttemptHandle, { role, index, from, follow }: LogOptions, signal: AbortSignal): AsyncGenerator<LogChunk> {
    this.#answer()
    const replica = this.#replicas.get(`${attemptId}/${role}/${index}`)
    if (!replica) return
    const bytes = Buffer.from(replica.log).subarray(from.stdout)
    if (bytes.length > 0) yield { stream: 'stdout', offset: from.stdout, bytes }
    while (follow && this.#replicas.has(`${attemptId}/${role}/${index}`) && replica.observation.endedAt === null && !signal.aborted)
      await sleep(20)
  }

  /** What a job has written is what FAKE_FILES says: JSON of texts by path. */
  async *collect({ attemptId }: AttemptHandle, { role, index }: MountPlace): AsyncGenerator<CollectedFile> {
    this.#answer()
    const replica = this.#replicas.get(`${attemptId}/${role}/${index}`)
    if (!replica) throw new SchedulerError('not_found', 'it is gone')
    for (const [path, text] of Object.entries(replica.files))
      yield { kind: 'file', path, size: Buffer.byteLength(text), body: Readable.from([Buffer.from(text)]) }
  }

  async cancel({ attemptId }: AttemptHandle): Promise<void> {
    this.#answer()
    for (const replica of this.#replicas.values()) if (replica.attemptId === attemptId) this.#end(replica, 143)
  }

  async flush(): Promise<void> {
    this.#answer()
  }

  async remove({ attemptId }: AttemptHandle): Promise<boolean> {
    this.#answer()
    for (const [key, replica] of this.#replicas) if (replica.attemptId === attemptId) this.#replicas.delete(key)
    return true
  }

  async health(): Promise<string> {
    this.#answer()
    return 'fake'
  }

  /** Makes everything vanish, as a machine that burns down. */
  forget(): void {
    this.#replicas.clear()
    this.#change()
  }

  /** How many replicas it still has. */
  get size(): number {
    return this.#replicas.size
  }

  #change(): void {
    this.#version += 1
    this.#changes.emit('change')
  }

  #answer(): void {
    if (this.away) throw this.away
  }

  #start(attemptId: string, role: string, { index, env }: AttemptReplica): void {
    const key = `${attemptId}/${role}/${index}`
    if (this.#replicas.has(key)) return
    this.starts.push(key)
    const startedAt = new Date().toISOString()
    const observation: ReplicaObservation = {
      ...{ role, index, phase: 'running', exitCode: null, startedAt, endedAt: null },
      ...{ node: 'fake', nativeId: key, nativeReason: null, failure: null },
    }
    const replica = {
      attemptId,
      log: env['FAKE_LOG'] ?? '',
      files: JSON.parse(env['FAKE_FILES'] ?? '{}') as Record<string, string>,
      observation,
    }
    this.#replicas.set(key, replica)
    this.#change()
    setTimeout(() => this.#end(replica, Number(env['FAKE_EXIT_CODE'] ?? 0)), Number(env['FAKE_SECONDS'] ?? 0) * 1_000).unref()
  }

  #end(replica: FakeReplica, exitCode: number): void {
    if (replica.observation.endedAt !== null) return
    const phase = exitCode === 0 ? 'succeeded' : 'failed'
    const failure = exitCode === 0 ? null : 'executor_error'
    replica.observation = { ...replica.observation, phase, exitCode, endedAt: new Date().toISOString(), failure }
    this.#change()
  }

  #attempts(): ObservationBatch['attempts'] {
    return [...groupByAttempt(this.#replicas.values())].map(([attemptId, replicas]) => ({
      attemptId,
      replicas: replicas.map((replica) => replica.observation),
    }))
  }
}

function groupByAttempt(replicas: Iterable<FakeReplica>): Map<string, FakeReplica[]> {
  const groups = new Map<string, FakeReplica[]>()
  for (const replica of replicas) groups.set(replica.attemptId, [...(groups.get(replica.attemptId) ?? []), replica])
  return groups
}
