import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../../src/config/config-error.ts'
import { readConfig } from '../../src/config.ts'

const folder = mkdtempSync(join(tmpdir(), 'berth-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

const KEY = '0123456789abcdef'
const POSTGRES = 'postgresql://berth:secret-word@db/berth'

function faultsOf(env: Record<string, string>): Record<string, string> {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return Object.fromEntries(error.faults.map(({ name, detail }) => [name, detail]))
    throw error
  }
  return {}
}

function writeSchedulers(content: unknown): string {
  const path = join(folder, 'schedulers.json')
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const STAGING = { maxStageBytes: 100 * 2 ** 30, stageCacheBytes: 10 * 2 ** 30 }

describe('readConfig', () => {
  it('gives the embedded service on loopback when nothing is set', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      publicUrl: null,
      ownUrl: 'http://127.0.0.1:8080',
      port: 8080,
      dataDir: join(process.cwd(), '.berth'),
      databaseUrl: null,
      redisUrl: null,
      serve: 'all',
      apiKey: null,
      schedulers: null,
      store: null,
      secretKeys: null,
      ambientDrives: [],
      allowPrivateUrls: false,
      keepJobs: { days: null, count: null },
      keepOutput: { days: null, bytes: null },
      maxLogBytes: 1024 * 1024 * 1024,
      webhookAllowCidrs: [],
      maxMounts: 32,
      logLevel: 'info',
      crashPoint: null,
    })
  })

  it('takes every variable', () => {
    const env = {
      BERTH_HOST: '0.0.0.0',
      BERTH_PORT: '0',
      BERTH_PUBLIC_URL: 'https://berth.example.org/',
      BERTH_DATA_DIR: '/var/lib/berth',
      DATABASE_URL: POSTGRES,
      REDIS_URL: 'redis://queue:6379',
      BERTH_SERVE: 'api',
      BERTH_API_KEY: KEY,
      BERTH_SCHEDULERS: writeSchedulers({ schedulers: { local: { kind: 'local' } } }),
      BERTH_STORE: 's3://bucket/berth/?endpoint=http://127.0.0.1:7070&region=eu-central-1',
      BERTH_STORE_ACCESS_KEY_ID: 'id',
      BERTH_STORE_SECRET_ACCESS_KEY: 'word',
      BERTH_SECRET_KEYS: `new:${Buffer.alloc(32, 1).toString('base64')},old:${Buffer.alloc(32, 2).toString('base64')}`,
      BERTH_AMBIENT_DRIVES: 'lake, other',
      BERTH_ALLOW_PRIVATE_URLS: 'true',
      BERTH_KEEP_DAYS: '30',
      BERTH_KEEP_JOBS: '5000',
      BERTH_KEEP_LOG_DAYS: '7',
      BERTH_KEEP_LOG_GIB: '2',
      BERTH_MAX_LOG_MIB: '0',
      BERTH_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8',
      BERTH_MAX_MOUNTS: '64',
      BERTH_LOG_LEVEL: 'debug',
      BERTH_CRASH_POINT: 'docker.create.after:SIGSTOP',
    }
    expect(readConfig(env)).toEqual({
      host: '0.0.0.0',
      publicUrl: 'https://berth.example.org',
      ownUrl: null,
      port: 0,
      dataDir: '/var/lib/berth',
      databaseUrl: POSTGRES,
      redisUrl: 'redis://queue:6379',
      serve: 'api',
      apiKey: KEY,
      schedulers: [{ name: 'local', kind: 'local', isolation: 'auto', bindRoots: [], ...STAGING }],
      store: {
        bucket: 'bucket',
        prefix: 'berth/',
        endpoint: 'http://127.0.0.1:7070',
        region: 'eu-central-1',
        credentials: { accessKeyId: 'id', secretAccessKey: 'word' },
      },
      secretKeys: [
        { id: 'new', key: Buffer.alloc(32, 1) },
        { id: 'old', key: Buffer.alloc(32, 2) },
      ],
      ambientDrives: ['lake', 'other'],
      allowPrivateUrls: true,
      keepJobs: { days: 30, count: 5000 },
      keepOutput: { days: 7, bytes: 2 * 1024 ** 3 },
      maxLogBytes: null,
      webhookAllowCidrs: ['10.0.0.0/8', 'fd00::/8'],
      maxMounts: 64,
      logLevel: 'debug',
      crashPoint: 'docker.create.after:SIGSTOP',
    })
  })

  it.each([
    [{ BERTH_PORT: '9000' }, 'http://127.0.0.1:9000'],
    [{ BERTH_HOST: '0.0.0.0' }, 'http://127.0.0.1:8080'],
    [{ BERTH_HOST: '::' }, 'http://[::1]:8080'],
    [{ BERTH_HOST: 'berth.example.org' }, 'http://berth.example.org:8080'],
    [{ BERTH_PORT: '0' }, null],
    [{ BERTH_SERVE: 'worker', DATABASE_URL: POSTGRES }, null],
  ])('knows with %j that local jobs reach the API at %s', (env, ownUrl) => {
    expect(readConfig(env).ownUrl).toBe(ownUrl)
  })

  it('takes a variable that is set to nothing as not set', () => {
    expect(readConfig({ BERTH_PORT: '', DATABASE_URL: '' })).toEqual(readConfig({}))
  })

  it('cannot be changed afterwards, at any depth', () => {
    const config = readConfig({ BERTH_SCHEDULERS: writeSchedulers({ schedulers: { local: { kind: 'local' } } }) })
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.schedulers?.[0]?.bindRoots)).toBe(true)
  })

  it('names every fault at once', () => {
    const env = { BERTH_PORT: '99999', BERTH_SERVE: 'both', BERTH_LOG_LEVEL: 'loud', BERTH_API_KEY: 'short', REDIS_URL: 'queue:6379' }
    const faults = faultsOf({ ...env, BERTH_SCHEDULERS: '/nowhere.json', BERTH_CRASH_POINT: 'x:SIGTERM' })
    expect(Object.keys(faults).sort()).toEqual([...Object.keys(env), 'BERTH_CRASH_POINT', 'BERTH_SCHEDULERS'].sort())
    expect(faults['BERTH_PORT']).toBe('must be a port number from 0 (any free one) to 65535')
    expect(faults['BERTH_SERVE']).toBe('must be "all" or "api" or "worker", not "both"')
  })

  it.each(['-1', '80a', '1e3', '65536', ' 80', '0x50'])('refuses the port %o', (port) => {
    expect(faultsOf({ BERTH_PORT: port })).toHaveProperty('BERTH_PORT')
  })

  it('does not repeat what may be a secret', () => {
    const env = { DATABASE_URL: 'mysql://u:secret-word@db', REDIS_URL: 'http://:secret-word@r', BERTH_API_KEY: 'secret-word' }
    const faults = faultsOf(env)
    expect(Object.keys(faults).sort()).toEqual(Object.keys(env).sort())
    expect(JSON.stringify(faults)).not.toContain('secret-word')
  })

  it('refuses to part API and worker without a database that both reach', () => {
    expect(faultsOf({ BERTH_SERVE: 'api' })['BERTH_SERVE']).toContain('needs DATABASE_URL')
    expect(faultsOf({ BERTH_SERVE: 'worker' })['BERTH_SERVE']).toContain('needs DATABASE_URL')
  })

  it('asks for a key where several processes must know the same', () => {
    expect(faultsOf({ DATABASE_URL: POSTGRES })['BERTH_API_KEY']).toContain('openssl rand')
    expect(faultsOf({ DATABASE_URL: POSTGRES, BERTH_SERVE: 'worker' })).toEqual({})
  })

  it.each([
    ['BERTH_PORTS', 'BERTH_PORT'],
    ['BERTH_SCHEDULER', 'BERTH_SCHEDULERS'],
    ['BERTH_DATABASE_URL', 'DATABASE_URL'],
    ['BERTH_DATADIR', 'BERTH_DATA_DIR'],
  ])('tells that %s is a slip for %s', (slip, meant) => {
    expect(faultsOf({ [slip]: 'x' })).toEqual({ [slip]: `there is no such variable; did you mean ${meant}?` })
  })

  it.each(['BERTH_SERVICE_HOST', 'BERTH_PORT_80_TCP', 'BERTH_TEST_DOCKER', 'BERTH_JOB_ID', 'BERTH_ROLE', 'BERTH_REPLICA', 'BERTH_DRIVES'])(
    'leaves %s alone, which others set',
    (name) => expect(faultsOf({ [name]: 'x' })).toEqual({}),
  )
})

describe('the file of schedulers', () => {
  const read = (content: unknown) => readConfig({ BERTH_SCHEDULERS: writeSchedulers(content) }).schedulers
  const withRegistry = (registry: object) => ({ schedulers: { docker: { kind: 'docker', registries: { 'r.example': registry } } } })
  const faults = (content: unknown) => faultsOf({ BERTH_SCHEDULERS: writeSchedulers(content) })

  it('fills in what is left out', () => {
    expect(read({ schedulers: { docker: { kind: 'docker' }, here: { kind: 'local', bindRoots: [{ root: '/srv' }] } } })).toEqual([
      {
        name: 'docker',
        kind: 'docker',
        host: 'unix:///var/run/docker.sock',
        bindRoots: [],
        devices: [],
        driveDirectories: true,
        ...STAGING,
        rclone: null,
        registries: {},
      },
      { name: 'here', kind: 'local', isolation: 'auto', bindRoots: [{ root: '/srv', readOnly: true }], ...STAGING },
    ])
  })

  it('reads the password of a registry from a file beside it', () => {
    writeFileSync(join(folder, 'token'), 'from-a-file\n')
    const registries = { 'localhost:5000': { username: 'u', passwordFile: 'token' }, 'r.example': { username: 'v', password: 'given' } }
    expect(read({ schedulers: { docker: { kind: 'docker', host: 'tcp://127.0.0.1:2375', registries } } })).toMatchObject([
      { registries: { 'localhost:5000': { username: 'u', password: 'from-a-file' }, 'r.example': { username: 'v', password: 'given' } } },
    ])
  })

  it('names the remotes of an rclone plugin, each for a part of a bucket', () => {
    const rclone = { driver: 'berth', control: '/run/rclone.sock', remotes: [{ source: 's3://lake/raw/', remote: 'lake' }] }
    expect(read({ schedulers: { docker: { kind: 'docker', rclone } } })).toMatchObject([
      { rclone: { driver: 'berth', control: '/run/rclone.sock', remotes: [{ source: 's3://lake/raw/', endpoint: null, remote: 'lake' }] } },
    ])
    const remotes = [{ source: 's3://lake/raw', remote: 'a:b' }]
    expect(Object.keys(faults({ schedulers: { docker: { kind: 'docker', rclone: { ...rclone, remotes } } } }))).toEqual([
      'BERTH_SCHEDULERS /schedulers/docker/rclone/remotes/0/source',
      'BERTH_SCHEDULERS /schedulers/docker/rclone/remotes/0/remote',
    ])
  })

  it('names each fault by its place', () => {
    const docker = { kind: 'docker', host: 'tcp://10.0.0.1:2375', devices: ['dev/fuse'], bindRoot: [] }
    const local = { kind: 'local', bindRoots: [{ root: '/srv/../etc' }], isolation: 'chroot' }
    const found = faults({ schedulers: { docker, local } })
    expect(Object.keys(found).sort()).toEqual([
      'BERTH_SCHEDULERS /schedulers/docker/bindRoot',
      'BERTH_SCHEDULERS /schedulers/docker/devices/0',
      'BERTH_SCHEDULERS /schedulers/docker/host',
      'BERTH_SCHEDULERS /schedulers/local/bindRoots/0/root',
      'BERTH_SCHEDULERS /schedulers/local/isolation',
    ])
    expect(found['BERTH_SCHEDULERS /schedulers/docker/bindRoot']).toContain('did you mean "bindRoots"?')
  })

  it.each([
    ['no JSON', '{', /is not JSON/],
    ['nothing in it', { schedulers: {} }, /at least one scheduler/],
    ['a kind that is not there', { schedulers: { a: { kind: 'slurm' } } }, /"local" or "docker"/],
    ['a name with capitals', { schedulers: { A: { kind: 'local' } } }, /is not a scheduler name/],
    ['a registry without a password', withRegistry({ username: 'u' }), /either a password or/],
    ['a registry with two passwords', withRegistry({ username: 'u', password: 'p', passwordFile: 'f' }), /either a password or/],
    ['a password file that is not there', withRegistry({ username: 'u', passwordFile: 'no' }), /cannot be read/],
  ])('refuses a file with %s', (_, content, words) => {
    const found = Object.values(faults(content))
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(words)
  })
})
