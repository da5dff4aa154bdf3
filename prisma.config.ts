import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

// The engine that Prisma would download is replaced by the one that npm carries (docs/adr/0002).
process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ??= fileURLToPath(new URL('./script/schema-engine.mjs', import.meta.url))

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env['DATABASE_URL'] ?? 'postgresql://localhost:5432/berth' },
})
