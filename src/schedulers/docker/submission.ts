import type { SubmitContext } from '../scheduler.ts'
import type { DockerRequest } from './docker-request.ts'
import type { Engine } from './engine.ts'
import type { Registries } from './pull-image.ts'

/** One submit, as its steps see it. */
export interface Submission {
  readonly engine: Engine
  readonly native: DockerRequest
  readonly context: SubmitContext
  readonly registries: Registries
}
