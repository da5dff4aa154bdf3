import { existsSync } from 'node:fs'
import { get } from 'node:http'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { startTestPostgres } from './postgres.ts'
import { startTestRedis } from './redis.ts'

/**
 * Vitest's global set-up: what tests need and nobody has started (script/test does) is started here if the machine can,
 * and told to the test files through the environment, which requirements.ts reads. What is missing is named there too.
 */
export default async function startServices(): Promise<() => Promise<void>> {
  const stops = [await provide('BERTH_TEST_DATABASE_URL', startTestPostgres)]
  if (findProgram('redis-server') !== null) stops.push(await provide('BERTH_TEST_REDIS_URL', startTestRedis))
  await findDocker()
  process.env['BERTH_TEST_S3_SERVER'] ||= builtProgram('versitygw', '1.8.0')
  process.env['BERTH_TEST_MINIO'] ||= builtProgram('minio', '0.0.0-20260212201848-7aac2a2c5b7c')
  process.env['BERTH_TEST_RCLONE'] ||= builtProgram('rclone', '1.76.0')
  process.env['BERTH_TEST_AZURITE'] ||= builtProgram('azurite', '3.37.0', 'node_modules/azurite/dist/src/blob/main.js')
  process.env['BERTH_TEST_PYTHON'] ||= builtProgram('standardwebhooks', '1.1.0', 'bin/python')
  process.env['BERTH_TEST_REGISTRY'] ??= findProgram('docker-registry') ?? ''
  return async () => {
    await Promise.all(stops.map((stop) => stop()))
  }
}

/** Where script/test puts it; empty if it is not there. */
function builtProgram(name: string, version: string, file = name): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
  const program = join(cache, 'berth-test', `${name}-${version}`, file)
  return existsSync(program) ? program : ''
}

interface Service {
  readonly url: string
  stop(): Promise<void>
}

async function provide(variable: string, start: () => Promise<Service>): Promise<() => Promise<void>> {
  if (process.env[variable]) return async () => {}
  try {
    const service = await start()
    process.env[variable] = service.url
    return async () => {
      delete process.env[variable]
      await service.stop()
    }
  } catch (error) {
    process.env[`${variable}_MISSING`] = String(error)
    return async () => {}
  }
}

async function findDocker(): Promise<void> {
  if (process.env['BERTH_TEST_DOCKER_MISSING']) return
  const host = process.env['BERTH_TEST_DOCKER'] || 'unix:///var/run/docker.sock'
  const answers = await new Promise<boolean>((resolve) => {
    const request = get({ socketPath: host.replace('unix://', ''), path: '/_ping', timeout: 5_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('error', () => resolve(false)).once('timeout', () => request.destroy())
  })
  process.env['BERTH_TEST_DOCKER'] = answers ? host : ''
  if (!answers) process.env['BERTH_TEST_DOCKER_MISSING'] = `no Docker daemon answers at ${host}`
}

function findProgram(name: string): string | null {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null
}
