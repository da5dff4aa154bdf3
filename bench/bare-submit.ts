/** The least that a durable submit can be: Fastify, zod, one prepared insert into a table with three indexes. */
import Fastify from 'fastify'
import pg from 'pg'
import { z } from 'zod'

const Body = z.strictObject({ scheduler: z.string(), roles: z.array(z.strictObject({ command: z.array(z.string()) })) })
const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })
await pool.query(
  `CREATE TABLE IF NOT EXISTS bare_job (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(), state text, spec json, created_at timestamptz DEFAULT now())`,
)
await pool.query('CREATE INDEX IF NOT EXISTS bare_job_state ON bare_job (state)')
await pool.query('CREATE INDEX IF NOT EXISTS bare_job_created ON bare_job (created_at)')

const app = Fastify()
app.get('/readyz', async () => 'ok')
app.post('/v1/jobs', async (request, reply) => {
  const body = Body.parse(request.body)
  const { rows } = await pool.query({
    name: 'insert',
    text: `INSERT INTO bare_job (state, spec) VALUES ('queued', $1) RETURNING id, created_at`,
    values: [JSON.stringify(body)],
  })
  return reply.code(202).send({ ...rows[0], ...body })
})
await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT']) })
process.once(
  'SIGTERM',
  () =>
    void app
      .close()
      .then(() => pool.end())
      .then(() => process.exit(0)),
)
