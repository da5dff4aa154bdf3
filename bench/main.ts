/**
 * `npm run bench`: what Berth costs on top of what it cannot do without, as ratios taken in one run. BENCH_SECONDS
 * (60) is the length of the long submit; DOCKER_HOST names a Docker with a `busybox` image, without which its
 * benches are left out. Words after `--` run those alone: `npm run bench -- drives`.
 */
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { startBerth } from './berth.ts'
import { benchDrives } from './drives.ts'
import { benchLogs } from './logs.ts'
import { benchDockerTrue, benchLocalTrue } from './run-true.ts'
import { benchStreams } from './streams.ts'
import { benchSubmit } from './submit.ts'
import { benchWebhooks } from './webhooks.ts'

/** The receivers are here, and their keys are sealed. */
const FOR_WEBHOOKS = { BERTH_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', BERTH_SECRET_KEYS: `bench:${Buffer.alloc(32, 7).toString('base64')}` }

const socketPath = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')
const wanted = process.argv.slice(2)
type Bench = 'true' | 'drives' | 'logs' | 'submit' | 'webhooks' | 'streams'
const isWanted = (bench: Bench): boolean => wanted.length === 0 || wanted.includes(bench)
const hasDocker = await access(socketPath).then(() => true, () => false)
const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
try {
  const schedulersFile = join(dataDir, 'schedulers.json')
  const docker = hasDocker ? { docker: { kind: 'docker', host: `unix://${socketPath}` } } : {}
  await writeFile(schedulersFile, JSON.stringify({ schedulers: { local: { kind: 'local' }, ...docker } }))
  const berth = await startBerth({ DATABASE_URL: postgres.url, BERTH_DATA_DIR: dataDir, BERTH_SCHEDULERS: schedulersFile, ...FOR_WEBHOOKS })
  try {
    if (isWanted('true')) await benchLocalTrue(berth)
    if (isWanted('streams')) await benchStreams(berth)
    if (isWanted('webhooks')) await benchWebhooks(berth)
    if (isWanted('drives')) await benchDrives({ berth, dataDir, dockerSocket: hasDocker ? socketPath : null })
    if (hasDocker) {
      if (isWanted('true')) await benchDockerTrue(berth, socketPath)
      if (isWanted('logs')) await benchLogs(berth, socketPath)
    } else {
      console.log(`no Docker at ${socketPath}: its benches are left out; set DOCKER_HOST`)
    }
  } finally {
    await berth.stop()
  }
  if (isWanted('submit')) await benchSubmit(postgres.url, dataDir, Number(process.env['BENCH_SECONDS'] ?? 60))
} finally {
  await postgres.stop()
  await rm(dataDir, { recursive: true, force: true })
}
