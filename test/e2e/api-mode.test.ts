import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { freePort } from '../support/free-port.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, type Place } from '../support/places.ts'

const need = requirePlaces()

/** Reads `in` below its part of the drive, puts `out` there, and tells what it was answered; then waits to be ended. */
const SCRIPT = `
of() { echo "$BERTH_DRIVES" | sed 's/.*"'$1'":"\\([^"]*\\)".*/\\1/'; }
get() { busybox wget -q -O - --header "Authorization: Bearer $(of token)" "$(of url)$1" 2>&1 || echo; }
at=$(of url); at=\${at#http://}
put() {
  { printf 'PUT /%s HTTP/1.1\\r\\nHost: berth\\r\\nAuthorization: Bearer %s\\r\\n' "\${at#*/}/$1" "$(of token)"
    printf 'Content-Length: 3\\r\\nConnection: close\\r\\n\\r\\nout'; sleep 1
  } | busybox nc "\${at%%:*}" "$(echo "\${at%%/*}" | sed 's/.*://')" | head -1 | cut -d' ' -f2
}
echo "in: $(get /$(of prefix)/in)"
echo "other: $(get /other/secret)"
echo "put: $(put $(of prefix)/out)"
echo "put elsewhere: $(put other/out)"
echo "token: $(of token)"
`

describe.skipIf(need.missing)('a mount of mode api', () => {
  let berth: Installation
  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    const host = await gateway(need.host)
    await berth.start({ at: { host, port: await freePort(host) } })
    await berth.client.request('POST', '/v1/drives', { body: { name: 'd', kind: 'managed' } })
    await berth.client.open('/v1/drives/d/objects/other/secret', { method: 'PUT', body: 'secret' })
  })
  afterAll(async () => {
    try {
      await berth.untilClean()
    } finally {
      await berth.dispose()
    }
  })

  const run = async (place: Place, access: string, script = SCRIPT) => {
    const mounts = [{ type: 'drive', drive: 'd', mode: 'api', access, subPath: `${place}-${access}` }]
    await berth.client.open(`/v1/drives/d/objects/${place}-${access}/in`, { method: 'PUT', body: 'content' })
    return berth.client.submit({
      scheduler: place,
      roles: [{ ...(place === 'docker' && { image: 'busybox' }), command: ['sh', '-c', script], mounts }],
    })
  }
  const toldBy = async (id: string): Promise<Record<string, string>> => {
    const lines = (await berth.client.log(id)).toString().trimEnd().split('\n')
    return Object.fromEntries(lines.filter((line) => line.includes(': ')).map((line) => line.split(/: (.*)/s).slice(0, 2)))
  }

  it.each(PLACES)('lets a job on %s use its part of the drive over HTTP, and nothing else', async (place) => {
    const { id } = await run(place, 'rw')
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    const told = await toldBy(id)
    expect(told).toMatchObject({ in: 'content', put: '201', 'put elsewhere': '403' })
    expect(told['other']).toContain('403')
    expect(await (await berth.client.open(`/v1/drives/d/objects/${place}-rw/out`)).text()).toBe('out')
  })

  it('gives no more than the access that was asked for', async () => {
    const reading = await run('local', 'ro')
    const creating = await run('local', 'create', SCRIPT.replace('echo "token', 'echo "again: $(put $(of prefix)/out)"; echo "token'))
    await Promise.all([berth.client.ended(reading.id), berth.client.ended(creating.id)])
    expect(await toldBy(reading.id)).toMatchObject({ in: 'content', put: '403' })
    expect(await toldBy(creating.id)).toMatchObject({ put: '201', again: '412' })
  })

  it('is over when the attempt is', async () => {
    const { id } = await run('local', 'rw', `${SCRIPT}; sleep 2`)
    await berth.client.ended(id)
    const { token } = await toldBy(id)
    const answer = await berth.client.open('/v1/drives/d/objects/local-rw/in', { headers: { authorization: `Bearer ${token}` } })
    expect(answer.status).toBe(401)
  })

  it('shows no token in a preview', async () => {
    const { body } = await berth.client.request('POST', '/v1/jobs/preview', {
      body: { scheduler: 'docker', roles: [{ image: 'busybox', command: ['true'], mounts: [{ type: 'drive', drive: 'd', mode: 'api' }] }] },
    })
    expect(JSON.stringify(body)).toContain('made-for-each-attempt')
    expect(JSON.stringify(body)).not.toContain('berth_job.')
  })
})

/** Of the daemon's own network: where its containers, and processes of this machine, both reach this machine. */
async function gateway(host: string): Promise<string> {
  const path = '/networks/bridge'
  const { IPAM } = await new Engine(host).call<{ IPAM: { Config: { Gateway?: string; Subnet: string }[] } }>({
    method: 'GET',
    path,
    signal: AbortSignal.timeout(10_000),
  })
  const [config] = IPAM.Config
  if (config?.Gateway === undefined) throw new Error(`the network bridge has no gateway: ${JSON.stringify(IPAM)}`)
  return config.Gateway
}
