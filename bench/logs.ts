import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { headers, runJob, type Server } from './berth.ts'
import { inPairs, report } from './figures.ts'

const MIB = 64
const COMMAND = ['sh', '-c', `yes 0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz | head -c ${MIB * 1024 * 1024}`]

/** Reading a log of 64 MiB: through the API after the end, against `docker logs` of the same output. */
export async function benchLogs(berth: Server, socketPath: string): Promise<void> {
  const { id } = await runJob(berth, { scheduler: 'docker', roles: [{ image: 'busybox', command: COMMAND }] })
  const host = ['-H', `unix://${socketPath}`]
  const container = await text('docker', [...host, 'run', '-d', 'busybox', ...COMMAND])
  await text('docker', [...host, 'wait', container])
  try {
    const digests = new Set<string>()
    const ours = async (): Promise<number> => timed(digests, (await fetch(`${berth.url}/v1/jobs/${id}/logs`, { headers })).body ?? [])
    const bare = async (): Promise<number> => timed(digests, spawn('docker', [...host, 'logs', container]).stdout)
    report('reading a log', await inPairs(6, ours, bare), 'MiB/s', '>= 0.8')
    console.log(`the log is ${digests.size === 1 ? 'byte-exact' : 'NOT the same'}`)
  } finally {
    await text('docker', [...host, 'rm', container])
  }
}

async function timed(digests: Set<string>, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
  const before = performance.now()
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  const seconds = (performance.now() - before) / 1_000
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  digests.add(hash.digest('hex'))
  return MIB / seconds
}

async function text(command: string, args: string[]): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of spawn(command, args).stdout) parts.push(part as Buffer)
  return Buffer.concat(parts).toString().trim()
}
