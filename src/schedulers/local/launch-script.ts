import type { Isolation } from './local-place.ts'
import type { LocalReplica } from './render.ts'

/**
 * What the shell inside of the sandbox does, read by it from standard input: take the directory and the user, then
 * become the command with exactly the environment that was asked for. Pure. It holds the environment, and so may hold
 * secrets: kept with mode 0600 until it was read, and never an argument of a process that stays.
 *
 * Marks each step on descriptor 3, so that a sandbox that cannot be made is told from a command that fails.
 */
export function launchScript(replica: LocalReplica, isolation: Isolation): string {
  const command = commandLine(replica)
  if (replica.user === null) return `${['printf e >&3', ...takeDirectory(replica), `exec ${command} ${AS_STARTED}`].join('\n')}\n`
  const inner = [...takeDirectory(replica), `exec "$@" ${AS_STARTED}`].join('\n')
  const [uid = '', gid] = replica.user.split(':')
  return [
    'printf e >&3',
    `gid=${gid === undefined ? `$(id -g ${quoted(uid)} 2>/dev/null) || gid=${quoted(uid)}` : quoted(gid)}`,
    `exec setpriv --reuid=${quoted(uid)} --regid="$gid" --clear-groups ${isolation === 'links' ? DIE_WITH_PARENT : ''}\\`,
    `  sh -c ${quoted(inner)} sh \\`,
    `  ${command}`,
    '',
  ].join('\n')
}

/** Only with the last command: until then standard input is this script. */
const AS_STARTED = '</dev/null 3>&-'

/** Setting another user clears the signal at the parent's death, so it is set again. */
const DIE_WITH_PARENT = '--pdeathsig KILL '

function takeDirectory({ workingDir, workDirectory }: LocalReplica): string[] {
  const directory = quoted(workingDir ?? workDirectory)
  return [`cd -- ${directory} 2>/dev/null || { mkdir -p -- ${directory} && cd -- ${directory}; } || exit 1`, 'printf x >&3']
}

/** `env` and not the shell sets the variables: any name is allowed, and the shell adds none of its own. */
function commandLine({ env, argv }: LocalReplica): string {
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`))
  const command = argv[0]?.includes('=') === true ? ['sh', '-c', 'exec "$@"', 'sh', ...argv] : argv
  return ['env', '-i', '--', ...variables, ...command.map(quoted)].join(' \\\n  ')
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
