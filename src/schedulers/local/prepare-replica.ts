import { randomUUID } from 'node:crypto'
import { closeSync } from 'node:fs'
import { chmod, rename, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeDirectory } from '../../make-directory.ts'
import type { BindRoot } from '../../domain/capabilities.ts'
import { isUnder } from '../../domain/mount-path.ts'
import { openBindSource } from './bind-source.ts'
import { cgroupFolders, makeCgroups } from './cgroups.ts'
import type { Cgroups, ReplicaCgroups } from './cgroups.ts'
import { errorCode } from './errors.ts'
import { REPLICA_FILES } from './folders.ts'
import type { ReplicaRecord } from './folders.ts'
import { launchScript } from './launch-script.ts'
import type { LocalMount } from './mounts.ts'
import type { LocalReplica, LocalRequest } from './render.ts'

export interface PreparePlace {
  readonly root: string
  readonly bindRoots: readonly BindRoot[]
  readonly cgroups: Cgroups
}

/**
 * Makes everything that a replica needs before it starts; may be repeated, and by two at the same time. Throws
 * `rejected` for a bind that cannot be made.
 */
export async function prepareReplica(request: LocalRequest, replica: LocalReplica, place: PreparePlace): Promise<ReplicaCgroups> {
  const folder = join(place.root, replica.directory)
  await makeDirectory(join(folder, 'work'))
  if (replica.user !== null) await chmod(join(folder, 'work'), 0o777)
  if (await makeDirectory(join(folder, 'tmp')) !== undefined) await chmod(join(folder, 'tmp'), 0o1777)
  for (const mount of replica.mounts) await prepareSource(mount, place.bindRoots)
  await (request.isolation === 'links' ? linkMounts(join(folder, 'work'), replica) : makeNestedMountPoints(replica))
  const { role, index, limits } = replica
  const { installation, attemptId } = request
  const name = `${attemptId}-${basename(folder)}`
  const record: ReplicaRecord = { installation, attemptId, role, index, cgroups: cgroupFolders(place.cgroups, name, limits) }
  await writeWhole(join(folder, REPLICA_FILES.launch), launchScript(replica, request.isolation))
  await writeWhole(join(folder, REPLICA_FILES.record), JSON.stringify(record))
  return makeCgroups(place.cgroups, name, limits)
}

/**
 * A new volume is writable for every user: jobs of different users may share it. A bind is opened anew at the start;
 * here it is only refused early, before any replica has started.
 */
async function prepareSource(mount: LocalMount, bindRoots: readonly BindRoot[]): Promise<void> {
  if (mount.kind === 'own') await makeDirectory(mount.source).then(() => chmod(mount.source, 0o777))
  if (mount.kind === 'drive') closeSync(openBindSource(mount.source, mount.readOnly ? 'ro' : 'rw', [{ root: mount.root, readOnly: false }]))
  if (mount.kind === 'bind') closeSync(openBindSource(mount.source, mount.readOnly ? 'ro' : 'rw', bindRoots))
  if (mount.kind === 'volume' && await makeDirectory(mount.source) !== undefined) await chmod(mount.source, 0o777)
}

/** A mount inside of a volume needs a folder there, which a read-only volume would not let bubblewrap make. */
async function makeNestedMountPoints({ mounts }: LocalReplica): Promise<void> {
  for (const outer of mounts) {
    if (outer.kind !== 'volume' && outer.kind !== 'own') continue
    const inner = mounts.filter(({ path }) => isUnder(outer.path, path))
    for (const { path } of inner) await makeDirectory(join(outer.source, path.slice(outer.path.length)))
  }
}

async function linkMounts(work: string, { mounts }: LocalReplica): Promise<void> {
  for (const mount of mounts) {
    if (mount.kind === 'tmpfs') continue
    const link = join(work, mount.path)
    await makeDirectory(dirname(link))
    await symlink(mount.source, link).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
  }
}

/** Readers see all of it or nothing. Only for our own eyes. */
async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, text, { mode: 0o600 })
  await rename(draft, path)
}
