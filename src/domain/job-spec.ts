import type { ResourceLimit } from './capabilities.ts'
import type { Mount } from './mount.ts'

/** A job as it is stored: parsed, with all defaults filled in and mount strings turned into objects. Never changes. */
export interface JobSpec {
  readonly name: string
  /** Name of a configured scheduler. */
  readonly scheduler: string
  readonly labels: Readonly<Record<string, string>>
  /** Longest wait of one attempt, from when it is due until a replica runs; null is without limit. */
  readonly queueTimeoutSeconds: number | null
  /** Longest run of one attempt, counted from the first running replica; null is without limit. */
  readonly timeoutSeconds: number | null
  /** Between the polite signal and the kill. */
  readonly graceSeconds: number
  readonly retries: RetryPolicy
  readonly onReplicaFailure: OnReplicaFailure
  /** Names of webhooks that are told of it in any case. */
  readonly webhooks: readonly string[]
  readonly roles: readonly RoleSpec[]
}

export interface RetryPolicy {
  /** Further attempts after the first; failures that use no attempt do not count. */
  readonly max: number
  /** Wait before the second attempt; doubled for each further one, up to 10 minutes, with jitter. */
  readonly backoffSeconds: number
}

export const ON_REPLICA_FAILURE = ['cancel_others', 'wait'] as const
export type OnReplicaFailure = (typeof ON_REPLICA_FAILURE)[number]

export interface RoleSpec {
  readonly name: string
  readonly image: string | null
  /** Replaces the image's own entrypoint; null keeps it. */
  readonly entrypoint: readonly string[] | null
  readonly command: readonly string[]
  readonly replicas: number
  readonly env: Readonly<Record<string, string>>
  readonly resources: Resources
  readonly workingDir: string | null
  /** `uid`, `uid:gid` or a name known to the image; null keeps the image's own. */
  readonly user: string | null
  readonly mounts: readonly Mount[]
}

/** `cpus` may be a fraction; memory and shared memory in MiB; null asks for no limit. */
export type Resources = Readonly<Record<ResourceLimit, number | null>>
