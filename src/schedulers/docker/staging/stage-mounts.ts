import { crashPoint } from '../../../crash-point.ts'
import { SchedulerError, type StagedTree } from '../../scheduler.ts'
import type { DockerContainer, StagedMount } from '../docker-request.ts'
import { statusOf, unaborted } from '../engine.ts'
import { assertClaimed } from '../errors.ts'
import { deleteContainer } from '../end-containers.ts'
import { LABELS } from '../labels.ts'
import { ensureCached, isCached } from './stage-cache.ts'
import { pullImage } from '../pull-image.ts'
import type { Submission } from '../submission.ts'
import { archiveOf } from './tree-archive.ts'

/** Where the volume that is filled is in the container that fills it. */
const FILLED = '/berth-stage'

/** Copies that are kept on the daemon are made before the containers that mount them; returns those with their names filled in. */
export async function withCachedMounts(submission: Submission): Promise<readonly DockerContainer[]> {
  const containers: DockerContainer[] = []
  const { engine, native, context, registries } = submission
  if (native.containers.every(({ staged }) => staged.every(({ cache }) => !cache))) return native.containers
  for (const image of native.images) await pullImage(engine, image, context, registries)
  for (const container of submission.native.containers) {
    const named = new Map<string, string>()
    for (const mount of container.staged.filter(({ cache }) => cache)) {
      const tree = await openTree(submission, container, mount)
      named.set(mount.path, await ensureCached(submission, tree, (volume) => fill(submission, { container, volume, tree, mount })))
    }
    containers.push(named.size === 0 ? container : withVolumes(container, named))
  }
  return containers
}

/** A copy that was evicted between its making and its mounting would be an empty volume now. @throws SchedulerError `conflict` */
export async function assertStillCached(submission: Submission, containers: readonly DockerContainer[]): Promise<void> {
  for (const { staged, create } of containers) {
    for (const { path } of staged.filter(({ cache }) => cache)) {
      const mount = create.HostConfig.Mounts?.find(({ Target }) => Target === path)
      if (mount?.Type !== 'volume' || mount.Source === undefined || (await isCached(submission, mount.Source))) continue
      throw new SchedulerError('unavailable', `the copy for ${path} was evicted before it could be mounted`)
    }
  }
}

/** Fills the volumes of a created container that are its own. */
export async function stageMounts(submission: Submission, container: DockerContainer): Promise<void> {
  const mounts = container.staged.filter(({ cache, direction }) => !cache && direction !== 'out')
  if (mounts.length === 0) return
  const volumes = await ownVolumes(submission, container.name)
  for (const mount of mounts) {
    const volume = volumes.get(mount.path)
    if (volume === undefined) throw new SchedulerError('unavailable', `${container.name} has no volume at ${mount.path}`)
    const tree = await openTree(submission, container, mount)
    await fill(submission, { container, volume, tree, mount })
  }
}

async function openTree(
  { context, maxStageBytes }: Submission,
  { role, index }: DockerContainer,
  { path }: StagedMount,
): Promise<StagedTree> {
  const tree = await context.staging.open({ role, index, path }, context.signal)
  if (maxStageBytes === null || tree.totalBytes <= maxStageBytes) return tree
  const words = `${path}: ${tree.totalBytes} bytes are to be copied, and this scheduler copies ${maxStageBytes} at most: mount ` +
    `a part, or mount it live`
  throw new SchedulerError('rejected', words, { failure: 'mount_failed' })
}

async function ownVolumes({ engine, context }: Submission, name: string): Promise<Map<string, string>> {
  const request = { method: 'GET', path: `/containers/${name}/json`, signal: context.signal } as const
  const { Mounts } = await engine.call<{ Mounts: readonly { Type: string; Name?: string; Destination: string }[] }>(request)
  return new Map(
    Mounts.flatMap(({ Type, Name, Destination }) => (Type === 'volume' && Name !== undefined ? [[Destination, Name] as const] : [])),
  )
}

interface Filling {
  readonly container: DockerContainer
  readonly volume: string
  readonly tree: StagedTree
  readonly mount: StagedMount
}

/**
 * Through a container that never starts, made of the replica's own image: the daemon takes archives for what it has
 * mounted, and would not for a read-only mount of the replica's own container.
 */
async function fill(submission: Submission, { container, volume, tree, mount }: Filling): Promise<void> {
  const { engine, context } = submission
  const helper = `${container.name}-stage-${mount.position}`
  await deleteContainer(engine, helper, context.signal)
  assertClaimed(context.signal)
  crashPoint('docker.stage.before')
  try {
    await engine.call({
      method: 'POST',
      path: '/containers/create',
      query: { name: helper },
      body: helperBody(container, volume),
      signal: unaborted(),
      deadlineMs: 120_000,
    })
    assertClaimed(context.signal)
    await upload(submission, { helper, tree, mount, user: container.create.User })
    crashPoint('docker.stage.after')
  } finally {
    await deleteContainer(engine, helper, AbortSignal.timeout(30_000)).catch(() => undefined)
  }
}

function helperBody({ create }: DockerContainer, volume: string): object {
  const { [LABELS.role]: _role, [LABELS.replica]: _replica, ...labels } = create.Labels
  return {
    Image: create.Image,
    Entrypoint: ['/berth-never-starts'],
    Cmd: [],
    Labels: labels,
    HostConfig: {
      Mounts: [{ Type: 'volume', Source: volume, Target: FILLED, ReadOnly: false, VolumeOptions: { NoCopy: true } }],
      NetworkMode: 'none',
      CapDrop: ['ALL'],
    },
  }
}

interface Uploading {
  readonly helper: string
  readonly tree: StagedTree
  readonly mount: StagedMount
  readonly user: string | undefined
}

async function upload({ engine, context, figures }: Submission, { helper, tree, mount, user }: Uploading): Promise<void> {
  const [, uid = '0', gid = uid] = /^(\d+)(?::(\d+))?$/.exec(user ?? '') ?? []
  figures.totalBytes += tree.totalBytes
  const onFile = (size: number): void => {
    figures.bytes += size
    figures.files += 1
    context.progress({
      reason: 'staging',
      detail: `${mount.path}: ${figures.bytes} of ${figures.totalBytes} bytes`,
      figures: { ...figures },
    })
  }
  const body = archiveOf(tree, { uid: Number(uid), gid: Number(gid), shared: !mount.readOnly, signal: context.signal, onFile })
  let failure: Error | undefined
  body.once('error', (error: Error) => (failure = error))
  try {
    await engine.upload({ method: 'PUT', path: `/containers/${helper}/archive`, query: { path: FILLED }, signal: context.signal }, body)
  } catch (error) {
    if (failure !== undefined) throw failure
    // 500 with a full disk, the only way in which an archive that is ours fails.
    if (statusOf(error) === 500)
      throw new SchedulerError('rejected', `${mount.path}: ${String((error as Error).message)}`, { cause: error, failure: 'mount_failed' })
    throw error
  }
}

const withVolumes = (container: DockerContainer, named: ReadonlyMap<string, string>): DockerContainer => ({
  ...container,
  create: {
    ...container.create,
    HostConfig: {
      ...container.create.HostConfig,
      Mounts: (container.create.HostConfig.Mounts ?? []).map((mount) => {
        const volume = named.get(mount.Target)
        return volume === undefined || mount.Type !== 'volume' ? mount : { ...mount, Source: volume }
      }),
    },
  },
})
