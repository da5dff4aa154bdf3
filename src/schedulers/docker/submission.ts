import type { SubmitContext } from '../scheduler.ts'
import type { DockerRequest } from './docker-request.ts'
import type { Engine } from './engine.ts'
import type { Registries } from './pull-image.ts'
import type { RclonePlugin } from './rclone/rclone-plugin.ts'

/** One submit, as its steps see it. */
export interface Submission {
  readonly engine: Engine
  readonly native: DockerRequest
  readonly context: SubmitContext
  readonly registries: Registries
  /** Null where the daemon has none. */
  readonly rclone: RclonePlugin | null
  /** Most that one mount may copy in; null for no bound. */
  readonly maxStageBytes: number | null
  /** Most that copies kept for later jobs may take. */
  readonly stageCacheBytes: number
  /** Of all copying of this submit, so far. */
  readonly figures: { bytes: number; files: number; totalBytes: number }
}
