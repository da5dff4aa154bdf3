import { basename, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { sandboxArguments } from '../../../../src/schedulers/local/sandbox.ts'
import type { MachineView, Placement, SandboxPlan } from '../../../../src/schedulers/local/sandbox.ts'

/** Ends with `/`: a folder; with `-> x`: a link; else a file. */
function machineOf(lines: readonly string[]): MachineView {
  const kinds = new Map<string, string>([['/', 'directory']])
  const targets = new Map<string, string>()
  for (const line of lines) {
    const [path = '', target] = line.split(' -> ')
    if (target !== undefined) targets.set(path, target)
    const plain = path.endsWith('/') ? path.slice(0, -1) : path
    kinds.set(plain, target !== undefined ? 'link' : path.endsWith('/') ? 'directory' : 'other')
  }
  return {
    kindOf: (path) => (kinds.get(path) ?? null) as ReturnType<MachineView['kindOf']>,
    entriesOf: (folder) => [...kinds.keys()].filter((path) => path !== '/' && dirname(path) === folder).map((path) => basename(path)),
    linkTarget: (link) => targets.get(link) ?? '',
    resolve: (path) => targets.get(path) ?? path,
  }
}

const MACHINE = machineOf([
  '/bin -> usr/bin', '/usr/', '/usr/bin/', '/opt/', '/opt/tool/', '/opt/readme', '/var/', '/var/run -> /run',
  '/run/', '/tmp/', '/dev/', '/proc/', '/srv/', '/srv/berth/', '/vmlinuz',
])

const at = (path: string, readOnly = false): Placement => ({ path, source: { folder: '/source' }, readOnly })

function lines(plan: Partial<SandboxPlan>, machine = MACHINE): string[] {
  const all = sandboxArguments({ placements: [], workingDir: null, hidden: [], switchesUser: false, ...plan }, machine)
  return all.join(' ').split(/ (?=--)/)
}

test('shows the machine read-only, with its links, but with /proc, /dev, /run and /tmp of its own', () => {
  const shown = lines({})
  expect(shown).toContain('--ro-bind-try /usr /usr')
  expect(shown).toContain('--symlink usr/bin /bin')
  expect(shown).toContain('--ro-bind-try /vmlinuz /vmlinuz')
  expect(shown).toEqual(expect.arrayContaining(['--proc /proc', '--dev /dev', '--tmpfs /run', '--remount-ro /', '--remount-ro /run']))
  for (const own of ['/proc', '/dev', '/run', '/tmp']) expect(shown).not.toContain(`--ro-bind-try ${own} ${own}`)
  expect(shown.filter((line) => line.startsWith('--bind'))).toEqual([])
})

test('makes no folder on the machine: the folder where a place is missing is replaced, with the rest of what it has', () => {
  const shown = lines({ placements: [at('/opt/new/place')] })
  const replaced = shown.indexOf('--tmpfs /opt')
  expect(replaced).toBeGreaterThan(shown.indexOf('--ro-bind-try /opt /opt'))
  expect(shown.slice(replaced + 1, replaced + 3)).toEqual(['--ro-bind-try /opt/tool /opt/tool', '--ro-bind-try /opt/readme /opt/readme'])
  expect(shown.indexOf('--dir /opt/new')).toBeGreaterThan(replaced)
  expect(shown.indexOf('--bind /source /opt/new/place')).toBeGreaterThan(shown.indexOf('--dir /opt/new'))
  expect(shown).toContain('--remount-ro /opt')
})

test('leaves a folder as it is where the place is there already', () => {
  expect(lines({ placements: [at('/opt/tool')] })).not.toContain('--tmpfs /opt')
})

test('follows the links of the machine to the place', () => {
  expect(lines({ placements: [at('/var/run/x')] })).toContain('--bind /source /run/x')
})

test('places the outer before the inner, whatever the order of the request', () => {
  const shown = lines({ placements: [at('/data/in/side'), at('/data', true)] })
  expect(shown.indexOf('--bind /source /data/in/side')).toBeGreaterThan(shown.indexOf('--ro-bind /source /data'))
  expect(shown).not.toContain('--dir /data/in')
})

test('hides folders of the machine, unless they are out of sight already', () => {
  const shown = lines({ hidden: ['/srv/berth', '/tmp/berth', '/not/there'] })
  expect(shown).toContain('--tmpfs /srv/berth')
  expect(shown).toContain('--remount-ro /srv/berth')
  expect(shown.join(' ')).not.toMatch(/\/tmp\/berth|\/not\/there/)
})

test('hides a folder once that lies in another hidden one', () => {
  const machine = machineOf(['/srv/', '/srv/berth/', '/srv/berth/local/'])
  const shown = lines({ hidden: ['/srv/berth/local', '/srv/berth'] }, machine)
  expect(shown.filter((line) => line.includes('/srv/berth'))).toEqual(['--tmpfs /srv/berth', '--remount-ro /srv/berth'])
})

test('places the working directory only where nothing is', () => {
  const shows = (path: string): boolean => lines({ workingDir: at(path), placements: [at('/data')] }).includes(`--bind /source ${path}`)
  expect([shows('/home/me'), shows('/opt/tool'), shows('/data/x'), shows('/tmp/x')]).toEqual([true, false, false, false])
})

test('takes all capabilities away, but for what a change of the user needs', () => {
  expect(lines({})).toContain('--cap-drop ALL')
  expect(lines({}).join(' ')).not.toContain('--cap-add')
  const given = lines({ switchesUser: true }).filter((line) => line.startsWith('--cap-add'))
  expect(given).toEqual(['--cap-add CAP_SETUID', '--cap-add CAP_SETGID'])
})

test('says sizes in bytes, and mounts what was opened by its descriptor', () => {
  const shown = lines({
    placements: [
      { path: '/fast', source: { tmpfsMiB: 3 }, readOnly: true },
      { path: '/in', source: { descriptor: 7 }, readOnly: true },
      { path: '/out', source: { descriptor: 8 }, readOnly: false },
    ],
  })
  expect(shown.join(' ')).toContain('--size 3145728 --perms 1777 --tmpfs /fast --remount-ro /fast')
  expect(shown).toEqual(expect.arrayContaining(['--ro-bind-fd 7 /in', '--bind-fd 8 /out']))
})
