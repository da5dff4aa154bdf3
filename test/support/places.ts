import { requireDocker, requireProgram } from './requirements.ts'

/** Kinds of scheduler that fault tests go through, by the name that an `Installation` gives them. */
export const PLACES = ['local', 'docker'] as const
export type Place = (typeof PLACES)[number]

/** Whether anything is missing that a test with both needs; the host is the shared daemon's. */
export function requirePlaces(): { readonly missing: boolean; readonly host: string } {
  const docker = requireDocker()
  const sandbox = requireProgram('bwrap')
  return { missing: docker.missing || sandbox.missing, host: docker.host }
}

export interface ShellJob {
  readonly replicas?: number
  readonly [field: string]: unknown
}

/** A job that writes each start down where `Installation.starts` reads it, and then does as the script says. */
export function shellJob(
  { truth }: { readonly truth: string },
  place: Place,
  script: string,
  { replicas = 1, ...more }: ShellJob = {},
): object {
  const note = 'echo "$BERTH_ATTEMPT/$BERTH_ROLE/$BERTH_REPLICA" >> /truth/$BERTH_JOB_ID.starts'
  return {
    scheduler: place,
    graceSeconds: 2,
    ...more,
    roles: [
      {
        name: 'main',
        ...(place === 'docker' && { image: 'busybox' }),
        command: ['sh', '-c', `${note}\n${script}`],
        replicas,
        mounts: [{ type: 'bind', source: truth, path: '/truth', access: 'rw' }],
      },
    ],
  }
}
