import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { SubmitProgress } from '../../../../src/schedulers/scheduler.ts'
import { BenchOfJobs } from '../../../contract/bench-of-jobs.ts'
import { createDockerUnderTest } from '../../../support/docker.ts'
import { freePort } from '../../../support/free-port.ts'
import { requireDocker, requireRegistry } from '../../../support/requirements.ts'
import { endProcess, spawnTied } from '../../../support/tied-process.ts'
import { NOTHING_STAGED } from '../../../support/staging.ts'

const daemon = requireDocker()
const { program, missing } = requireRegistry()
const { signal } = new AbortController()
const credentials = { username: 'berth', password: 'open-sesame' }
/** `htpasswd -B` of the password. */
const HASH = '$2y$05$abcdefghijklmnopqrstuutXu9KzOt.1yBoZUeFWoT/914/JfszCO'

describe.skipIf(daemon.missing || missing)('an image that is not there', () => {
  const tested = createDockerUnderTest(daemon.host)
  const { engine } = tested
  let folder: string
  let registry: ReturnType<typeof spawnTied>
  let host: string
  let image: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'berth-registry-'))
    host = `127.0.0.1:${await freePort()}`
    image = `${host}/team/tool:v1`
    await writeFile(join(folder, 'htpasswd'), `${credentials.username}:${HASH}\n`)
    await writeFile(join(folder, 'config.yml'), configOf(folder, host))
    registry = spawnTied(program, ['serve', join(folder, 'config.yml')])
    await vi.waitFor(() => fetch(`http://${host}/v2/`), { timeout: 10_000 })
    await publish(image)
  })
  afterAll(async () => {
    await engine.find({ method: 'DELETE', path: `/images/${image}`, query: { force: true }, signal })
    await tested.dispose()
    await endProcess(registry, 'SIGKILL')
    await rm(folder, { recursive: true })
  })

  /** Makes an image with a layer of its own that takes a moment to fetch, and keeps it in the registry only. */
  async function publish(name: string): Promise<void> {
    const Cmd = ['sh', '-c', 'head -c 20000000 /dev/urandom > /payload']
    const body = { Image: 'busybox', Cmd }
    const { Id } = await engine.call<{ Id: string }>({ method: 'POST', path: '/containers/create', body, signal })
    await engine.call({ method: 'POST', path: `/containers/${Id}/start`, signal })
    await engine.call({ method: 'POST', path: `/containers/${Id}/wait`, signal })
    const [repo, tag] = [name.slice(0, name.lastIndexOf(':')), name.slice(name.lastIndexOf(':') + 1)]
    await engine.call({ method: 'POST', path: '/commit', query: { container: Id, repo, tag }, signal })
    const pushing = await engine.stream({ method: 'POST', path: `/images/${repo}/push`, query: { tag }, credentials, signal })
    const words = (await pushing.toArray()).join('')
    if (words.includes('errorDetail')) throw new Error(words)
    await engine.call({ method: 'DELETE', path: `/containers/${Id}`, signal })
    await engine.call({ method: 'DELETE', path: `/images/${name}`, signal })
  }

  test("is refused without credentials, in the daemon's own words", async () => {
    const jobs = new BenchOfJobs(tested, image)
    await expect(jobs.submit(jobs.shell('true'))).rejects.toMatchObject({
      kind: 'rejected',
      failure: 'image_pull_failed',
      message: expect.stringMatching(/no basic auth credentials|unauthorized/) as string,
    })
  })

  test('is refused with wrong credentials, which the refusal does not tell', async () => {
    const wrong = createDockerUnderTest(daemon.host, { registries: { [host]: { username: 'berth', password: 'hunter2' } } })
    const jobs = new BenchOfJobs(wrong, image)
    const error = await jobs.submit(jobs.shell('true')).then(
      () => null,
      (caught: unknown) => caught,
    )
    expect(error).toMatchObject({ kind: 'rejected', failure: 'image_pull_failed' })
    expect(JSON.stringify(error) + String(error)).not.toContain('hunter2')
  })

  test('is refused when its registry does not have it', async () => {
    const known = createDockerUnderTest(daemon.host, { registries: { [host]: credentials } })
    const jobs = new BenchOfJobs(known, `${host}/team/other`)
    await expect(jobs.submit(jobs.shell('true'))).rejects.toMatchObject({ kind: 'rejected', failure: 'image_pull_failed' })
  })

  test('is fetched with the credentials of its registry, and tells how far it is; the next time it is there', async () => {
    const known = createDockerUnderTest(daemon.host, { registries: { [host]: credentials } })
    const jobs = new BenchOfJobs(known, image)
    const progress: SubmitProgress[] = []
    const submit = (spec = jobs.shell('ls -l /payload')): Promise<void> =>
      known.scheduler.submit(known.scheduler.render(spec), {
        signal,
        staging: NOTHING_STAGED,
        progress: (step) => void progress.push(step),
      })
    await submit(jobs.shell('true', { replicas: 2 }))
    expect(progress.every(({ reason }) => reason === 'image_pull')).toBe(true)
    expect(progress.some(({ detail }) => new RegExp(`^${image}: \\d+ of 2\\d MiB$`).test(detail))).toBe(true)
    progress.length = 0
    await submit()
    expect(progress).toEqual([])
    await known.dispose()
  })
})

const configOf = (folder: string, host: string): string => `
version: 0.1
log: {level: error, accesslog: {disabled: true}}
storage: {filesystem: {rootdirectory: ${folder}/data}, delete: {enabled: true}}
http: {addr: "${host}"}
auth: {htpasswd: {realm: test, path: ${folder}/htpasswd}}
`
