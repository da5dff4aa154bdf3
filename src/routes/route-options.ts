import type { ServiceDeps } from '../services/service-deps.ts'

/** What the routes are made with. */
export interface RouteOptions {
  readonly deps: ServiceDeps
}
