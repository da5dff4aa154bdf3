import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { inspectContainer } from '../../src/schedulers/docker/find-containers.ts'
import type { Installation } from '../support/installation.ts'
import type { PrivateDocker } from '../support/private-docker.ts'

/** Attempts of which all is told; the others are in the list alone. */
const TOLD = 5
const LAST_WORDS = 15

/** Prints what Postgres, the processes and the daemon know of the attempts that are not over. */
export async function tellOfOpenAttempts(berth: Installation, docker: PrivateDocker): Promise<void> {
  const { rows } = await berth.database.pool.query<{ id: string; job_id: string }>(
    `SELECT *, now() FROM attempt WHERE removed_at IS NULL ORDER BY id`,
  )
  print('not over', rows)
  for (const { pid, lines } of berth.processes.filter(({ alive }) => alive())) print(`last words of ${pid}`, lines.slice(-LAST_WORDS))
  for (const { id, job_id: job } of rows.slice(0, TOLD)) {
    print(`events of ${job}`, (await berth.database.pool.query('SELECT * FROM job_event WHERE job_id = $1 ORDER BY seq', [job])).rows)
    for (const { pid, lines } of berth.processes) {
      const about = lines.map((line) => JSON.stringify(line)).filter((line) => line.includes(id) || line.includes(job))
      if (about.length > 0) print(`${pid} of ${id}`, about)
    }
    await tellOfContainers(berth, docker, id)
  }
}

async function tellOfContainers(berth: Installation, docker: PrivateDocker, attempt: string): Promise<void> {
  const engine = new Engine(docker.host)
  const [containers] = await berth.nativeObjects()
  for (const id of containers) {
    const container = await inspectContainer(engine, id, AbortSignal.timeout(20_000))
    if (!container || !JSON.stringify(container).includes(attempt)) continue
    print(`container of ${attempt}`, container)
    print('the daemon keeps', JSON.parse(await readFile(join(docker.data, 'containers', id, 'config.v2.json'), 'utf8')))
    print('the daemon said', await linesOf(docker.log, id, attempt))
  }
}

/** Those that hold one of the words. */
async function linesOf(file: string, ...words: string[]): Promise<string[]> {
  const found: string[] = []
  for await (const line of createInterface(createReadStream(file))) if (words.some((word) => line.includes(word))) found.push(line)
  return found
}

const print = (what: string, facts: unknown): void => console.log(`${what}: ${JSON.stringify(facts, null, 1)}`)
