import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, rm } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import { shellJob } from '../support/places.ts'
import { mountDisk, startPrivateDocker, type PrivateDocker } from '../support/private-docker.ts'
import { requireProgram, requireRoot } from '../support/requirements.ts'

const root = requireRoot()
const dockerd = requireProgram('dockerd')
const sandbox = requireProgram('bwrap')
const MIB = 1024 * 1024
const run = promisify(execFile)

/** Takes all the room there is in a file system but a little, and gives it back. */
async function fill(folder: string, left = 0): Promise<() => Promise<void>> {
  const ballast = join(folder, 'ballast')
  const file = await open(ballast, 'w')
  for (const chunk of [Buffer.alloc(MIB), Buffer.alloc(4096)]) {
    for (let full = false; !full;)
      full = await file.appendFile(chunk).then(
        () => false,
        () => true,
      )
  }
  await file.truncate((await file.stat()).size - left)
  await file.close()
  return () => rm(ballast)
}

describe.skipIf(root.missing || sandbox.missing)('a full disk below local jobs and managed drives (case 23)', () => {
  let disk: string
  let berth: Installation

  beforeAll(async () => {
    disk = join(await mkdtemp(join(tmpdir(), 'berth-disk-')), 'disk')
    await mountDisk(disk, 64)
    berth = await Installation.create()
    await berth.start({ env: { BERTH_DATA_DIR: disk } })
    await berth.client.request('POST', '/v1/drives', { body: { name: 'models', kind: 'managed' } })
  })
  afterAll(async () => {
    await berth.dispose()
    await run('umount', [disk])
    await rm(join(disk, '..'), { recursive: true, force: true })
  })

  const put = (key: string, size: number): Promise<{ status: number; body: unknown }> =>
    berth.client
      .open(`/v1/drives/models/objects/${key}`, { method: 'PUT', body: new Uint8Array(randomBytes(size)) })
      .then(async (answer) => ({ status: answer.status, body: await answer.json() }))
  const mounts = [{ type: 'drive', drive: 'models', mode: 'copy_in', path: '/in' }]

  it('refuses an object with 507 and leaves nothing of it, and takes it when there is room', async () => {
    const free = await fill(disk)
    expect(await put('big', 8 * MIB)).toMatchObject({ status: 507, body: { code: 'quota_exceeded' } })
    expect((await berth.client.open('/v1/drives/models/objects/big', { method: 'HEAD' })).status).toBe(404)
    await free()
    expect(await put('big', 8 * MIB)).toMatchObject({ status: 201 })
  })

  it('fails a job whose files find no room with mount_failed and the disk’s own words, and runs the next one', async () => {
    const job = { scheduler: 'local', roles: [{ name: 'main', command: ['wc', '-c', '/in/big'], mounts }] }
    const free = await fill(disk, 2 * MIB)
    const { id } = await berth.client.submit(job)
    expect(await berth.client.ended(id)).toMatchObject({ state: 'failed', reason: 'mount_failed', detail: expect.stringMatching(/space/i) })
    await free()
    expect(await berth.client.ended((await berth.client.submit(job)).id)).toMatchObject({ state: 'succeeded' })
    await berth.untilClean()
  })

  it('keeps a job waiting that finds no room for its own folder, says so, and runs it when there is', async () => {
    const free = await fill(disk)
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'true'))
    const told = await berth.client.until(id, ({ reason }) => reason !== null, 30)
    expect(told).toMatchObject({ state: 'starting', detail: expect.stringContaining('the disk is full') })
    await free()
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    await berth.untilClean()
  })
})

describe.skipIf(root.missing || dockerd.missing)('a full disk below the Docker daemon (case 23)', () => {
  let own: PrivateDocker
  let berth: Installation

  beforeAll(async () => {
    own = await startPrivateDocker({ diskMiB: 96 })
    berth = await Installation.create({ dockerHost: own.host })
    await berth.start()
  })
  afterAll(async () => {
    await berth.dispose()
    await own.stop()
  })

  it('fails a job with the words of whoever found no room, and runs the next one when there is', async () => {
    await mkdir(join(own.data, 'filler'))
    const free = await fill(join(own.data, 'filler'))
    const { id } = await berth.client.submit(shellJob(berth, 'docker', 'head -c 8000000 /dev/zero > /big || exit 9'))
    const told = await berth.client.until(id, ({ state }) => state === 'failed', 30)
    console.log(`${told.state}, ${told.reason}: ${told.detail}`)
    expect(told.detail).toMatch(/no space left|exit code 9/)
    await free()
    const next = await berth.client.submit(shellJob(berth, 'docker', 'head -c 8000000 /dev/zero > /big'))
    expect(await berth.client.ended(next.id)).toMatchObject({ state: 'succeeded' })
    const starts = await berth.starts(id)
    expect(new Set(starts).size).toBe(starts.length)
    await berth.untilClean()
  })
})
