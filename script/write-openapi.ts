/**
 * Writes openapi.yaml from the routes. With --check it writes nothing, and exits with 1 when the file is stale.
 * Needs no database: nothing but the document is asked of the app.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { AppDeps } from '../src/app.ts'
import { buildApp } from '../src/app.ts'

const FILE = fileURLToPath(new URL('../openapi.yaml', import.meta.url))
const HEAD = '# Made from src/routes by `npm run openapi`. Do not edit.\n'

const app = await buildApp({ apiKey: 'unused', log: pino({ level: 'silent' }), schedulers: new Map() } as unknown as AppDeps)
const text = HEAD + app.swagger({ yaml: true })
await app.close()

if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text)
} else if (!existsSync(FILE) || readFileSync(FILE, 'utf8') !== text) {
  console.error('openapi.yaml is stale: run `npm run openapi` and commit it')
  process.exitCode = 1
}
