import { dirname } from 'node:path'
import { isUnder } from '../../domain/mount-path.ts'

/** What the inside of a sandbox is made of. */
export interface SandboxPlan {
  /** All that the replica sees at places of its own, each over what the machine has there. */
  readonly placements: readonly Placement[]
  /** Where it starts: placed only if neither the machine nor a placement has that path. */
  readonly workingDir: Placement | null
  /** Folders of the machine that it must not see. */
  readonly hidden: readonly string[]
  /** The replica changes to another user, for which it needs two capabilities until then. */
  readonly switchesUser: boolean
}

export interface Placement {
  readonly path: string
  readonly source: { readonly descriptor: number } | { readonly folder: string } | { readonly tmpfsMiB: number | null }
  readonly readOnly: boolean
}

/** What the machine has at a path. Links are not followed, except by `resolve`. */
export interface MachineView {
  kindOf(path: string): 'directory' | 'link' | 'other' | null
  entriesOf(directory: string): readonly string[]
  linkTarget(link: string): string
  /** The path with all links in it followed; the path must exist. */
  resolve(path: string): string
}

/**
 * The arguments of `bwrap` (without the command): the machine's own files read-only, private /tmp, /run, /dev and
 * process table, and the placements. Nothing is made on the machine for a place that it does not have: the folder
 * where it is missing is replaced by an empty one with all the rest of its content. Pure but for the view.
 */
export function sandboxArguments(plan: SandboxPlan, machine: MachineView): string[] {
  const own = ['/proc', '/dev', '/run', '/tmp']
  const top = machine.entriesOf('/').map((name) => `/${name}`).filter((path) => !own.includes(path))
  const masked = (path: string): boolean => own.some((place) => within(place, path))
  const gone = (path: string): boolean => plan.hidden.some((outer) => isUnder(outer, path))
  const hidden = plan.hidden.filter((path) => !masked(path) && !gone(path) && machine.kindOf(path) === 'directory')
  const covered = [...own, ...hidden]
  const placements = [...plan.placements, ...missingWorkingDir(plan, covered, machine)]
    .map((placement) => ({ ...placement, path: realPlace(placement.path, covered, machine) }))
    .sort((one, other) => depth(one.path) - depth(other.path))
  const opened = foldersToOpen(placements, covered, machine)
  return [
    ...SEPARATION,
    ...(plan.switchesUser ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'] : []),
    ...top.flatMap((path) => machineEntry(path, machine)),
    ...opened.flatMap((folder) => [
      '--perms', '0755', '--tmpfs', folder,
      ...machine.entriesOf(folder).flatMap((name) => machineEntry(`${folder}/${name}`, machine)),
    ]),
    '--proc', '/proc', '--dev', '/dev', '--perms', '0755', '--tmpfs', '/run', ...NAME_SERVICES,
    ...hidden.flatMap((path) => ['--perms', '0755', '--tmpfs', path]),
    ...placements.flatMap((placement) => [...missingParents(placement.path, placements, machine), ...place(placement)]),
    ...['/', '/run', ...opened, ...hidden].flatMap((path) => ['--remount-ro', path]),
  ]
}

const SEPARATION = ['--unshare-pid', '--unshare-ipc', '--die-with-parent', '--cap-drop', 'ALL']

/** Name resolution keeps its files under /run on many machines; sockets there are not for jobs. */
const NAME_SERVICES = ['/run/systemd/resolve', '/run/resolvconf', '/run/NetworkManager/resolv.conf']
  .flatMap((path) => ['--ro-bind-try', path, path])

function machineEntry(path: string, machine: MachineView): string[] {
  switch (machine.kindOf(path)) {
    case null: return []
    case 'link': return ['--symlink', machine.linkTarget(path), path]
    default: return ['--ro-bind-try', path, path]
  }
}

function place({ path, source, readOnly }: Placement): string[] {
  if ('descriptor' in source) return [readOnly ? '--ro-bind-fd' : '--bind-fd', String(source.descriptor), path]
  if ('folder' in source) return [readOnly ? '--ro-bind' : '--bind', source.folder, path]
  const size = source.tmpfsMiB === null ? [] : ['--size', String(source.tmpfsMiB * 1024 * 1024)]
  return [...size, '--perms', '1777', '--tmpfs', path, ...(readOnly ? ['--remount-ro', path] : [])]
}

function missingWorkingDir({ workingDir, placements }: SandboxPlan, covered: readonly string[], machine: MachineView): Placement[] {
  if (workingDir === null || machine.kindOf(workingDir.path) !== null) return []
  const taken = [...covered, ...placements.map(({ path }) => path)].some((place) => within(place, workingDir.path))
  return taken ? [] : [workingDir]
}

/** bubblewrap would make them for root only. Inside of another placement there is nothing to make: it has the folder. */
function missingParents(path: string, placements: readonly Placement[], machine: MachineView): string[] {
  const parents: string[] = []
  for (let parent = dirname(path); machine.kindOf(parent) === null; parent = dirname(parent)) parents.unshift(parent)
  const outside = parents.filter((parent) => !placements.some((other) => within(other.path, parent)))
  return outside.flatMap((parent) => ['--perms', '0755', '--dir', parent])
}

/** Where a place really is, with the machine's links in its path followed as far as the machine has it. */
function realPlace(path: string, covered: readonly string[], machine: MachineView): string {
  if (covered.some((place) => within(place, path))) return path
  const last = lastOnMachine(path, machine)
  const real = machine.resolve(last)
  return `${real === '/' ? '' : real}${path.slice(last === '/' ? 0 : last.length)}`
}

/** Folders of the machine in which something must be placed that they do not have, outermost first. */
function foldersToOpen(placements: readonly Placement[], covered: readonly string[], machine: MachineView): string[] {
  const places = [...covered, ...placements.map(({ path }) => path)]
  const opened = placements
    .filter(({ path }) => !places.some((outer) => isUnder(outer, path)) && !covered.includes(path) && machine.kindOf(path) === null)
    .map(({ path }) => lastOnMachine(path, machine))
  return [...new Set(opened)].filter((folder) => folder !== '/').sort((one, other) => depth(one) - depth(other))
}

function lastOnMachine(path: string, machine: MachineView): string {
  let last = path
  while (last !== '/' && machine.kindOf(last) === null) last = dirname(last)
  return last
}

const within = (directory: string, path: string): boolean => path === directory || isUnder(directory, path)

const depth = (path: string): number => path.split('/').length
