import { resolve } from 'node:path'
import { createApiClient, type ApiClient } from './api-client.ts'
import { startBerthProcess, type BerthProcess } from './berth-process.ts'
import { DemoFailure } from './demo-failure.ts'
import { findDocker } from './docker.ts'
import { generateJob, trainJob, type Place } from './jobs.ts'
import { showDrives } from './notebook.ts'
import { outline } from './outline.ts'
import { bold, dim, green, red, say, sideBySide, yellow } from './terminal.ts'
import { watchJob } from './watch-job.ts'

const dataDir = resolve(process.env['BERTH_DATA_DIR'] || '.berth')
const LINKED = `         bubblewrap is missing or may not be used here (apt-get install bubblewrap): jobs on \`local\` find their mounts by
         links, and cannot have them read-only`
const started: BerthProcess[] = []

process.exitCode = await demonstrate().then(() => 0, explain)
await stopAll()
if (process.exitCode === 0)
  say(
    `\n${green('Done.')} Nothing is left running. Data stays in ${dataDir}, and Docker's in its volume foo2; npm start goes on with them.`,
  )

async function demonstrate(): Promise<void> {
  const begin = performance.now()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void interrupt())
  const docker = await findDocker()
  const dockerWords = docker.obstacle === null ? `answers at ${docker.host}: jobs run there too` : yellow(`left out: ${docker.obstacle}`)
  say(`${bold('Docker')}   ${dockerWords}`)
  const schedulers = { local: { kind: 'local' }, docker: { kind: 'docker', host: docker.host } }
  const berth = await startBerthProcess({ dataDir, schedulers: { schedulers } })
  started.push(berth)
  const api = createApiClient(berth.address, berth.apiKey)
  const seconds = ((performance.now() - begin) / 1000).toFixed(1)
  say(`${bold('Berth')}    listens on ${berth.address} after ${seconds} s, with a PostgreSQL of its own in ${dataDir}`)

  const local = await placeOf(api, 'local')
  if (local.mountPaths === 'linked') say(yellow(LINKED))
  const places = docker.obstacle === null ? [local, await placeOf(api, 'docker')] : [local]
  for (const place of places) {
    await watchJob(api, generateJob(place))
    await watchJob(api, trainJob(place))
  }
  await showDrives(api, places)
  await compare(api, local)
}

async function placeOf(api: ApiClient, scheduler: string): Promise<Place> {
  const found = (await api.schedulers()).find(({ name }) => name === scheduler)
  if (found === undefined) throw new DemoFailure(`Berth knows no scheduler ${scheduler}`, 'Report this: it is a fault of Berth.')
  return { scheduler, mountPaths: found.capabilities.mountPaths }
}

/** The same job, as each scheduler would be asked for it. */
async function compare(api: ApiClient, local: Place): Promise<void> {
  const places = [local, { scheduler: 'docker', mountPaths: 'exact' } as const]
  const [here, there] = await Promise.all(places.map(async (place) => outline((await api.preview(trainJob(place))).native)))
  say(`\n${bold('The same train job in the native form of each scheduler')} ${dim('(POST /v1/jobs/preview)')}`)
  for (const line of sideBySide(['local', ...(here ?? [])], ['docker', ...(there ?? [])])) say(line)
}

async function interrupt(): Promise<void> {
  await stopAll()
  process.exit(130)
}

async function stopAll(): Promise<void> {
  await Promise.all(started.map((berth) => berth.stop()))
}

function explain(error: unknown): number {
  const advice = error instanceof DemoFailure ? error.advice : 'This is a fault of the demonstration: please report it.'
  say(`\n${red('Failed:')} ${error instanceof DemoFailure ? error.message : error instanceof Error ? error.stack : String(error)}`)
  say(`${bold('What to do:')} ${advice}`)
  return 1
}
