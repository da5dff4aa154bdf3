import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { OpenAPIV3_1 } from 'openapi-types'
import { polishOpenApi } from './polish-openapi.ts'

export interface OpenApiOptions {
  /** Of the service. */
  readonly version: string
  /** The messages that it sends by itself; their schemas are components by name. */
  readonly webhooks: NonNullable<OpenAPIV3_1.Document['webhooks']>
}

const config = { target: 'draft-2020-12' } as const
const schemaOfRoute = createJsonSchemaTransform({ zodToJsonConfig: config })
const withComponents = createJsonSchemaTransformObject({ zodToJsonConfig: config })

const TAGS = [
  { name: 'jobs', description: 'Submit jobs, and see what becomes of them.' },
  { name: 'job-definitions', description: 'Named, versioned bodies of jobs.' },
  { name: 'drives', description: 'Storage that jobs mount by name.' },
  { name: 'objects', description: 'What lies on drives. A job with a mount of mode `api` may use these with its own token.' },
  { name: 'secrets', description: 'Credentials of drives; nobody is shown them again.' },
  { name: 'webhooks', description: 'Where events are sent, signed. The messages are described under `webhooks` of this document.' },
  { name: 'messages', description: 'What webhooks are told, for those who receive it.' },
  { name: 'schedulers', description: 'Places that run jobs.' },
  { name: 'operation', description: 'For those who run Berth.' },
]

const DESCRIPTION = `Runs jobs on Docker or as local processes, and mounts their drives in each scheduler's own form.

Every address but those of health and of this document needs a key: \`Authorization: Bearer <key>\`. Everything that
is not a success is a problem (RFC 9457) with a stable \`code\`, and names every fault of a request at once. Unknown
fields and parameters are refused in requests; answers may get new fields at any time, which clients must ignore.`

/** Collects the routes that follow into an OpenAPI 3.1 document, and shows it at /openapi.json and /docs. */
export const openApiDocument = fp<OpenApiOptions>(
  async (app, { version, webhooks }) => {
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Berth', version, description: DESCRIPTION, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
        servers: [{ url: '/', description: 'Where this document comes from.' }],
        tags: TAGS,
        security: [{ apiKey: [] }],
        components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'The API key of this installation.' } } },
      },
      transform: (document) => {
        const { schema, url } = schemaOfRoute(document)
        const open = document.route.config?.access === 'open'
        return { schema: { ...schema, ...headersOf(document.schema.response, schema.response), ...(open && { security: [] }) }, url }
      },
      transformObject: (document) => polishOpenApi({ ...(withComponents(document) as OpenAPIV3_1.Document), webhooks }),
    })
    await app.register(documentRoutes)
  },
  { name: 'openapi-document' },
)

/** The document is open to all, and so is what shows it. */
async function documentRoutes(app: FastifyInstance): Promise<void> {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, access: 'open' }
    route.logLevel = 'warn'
    route.schema = { ...route.schema, hide: true }
  })
  app.get('/openapi.json', () => app.swagger())
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    uiConfig: { persistAuthorization: true, tryItOutEnabled: true },
    theme: { title: 'Berth' },
    logo: { type: 'image/svg+xml', content: LOGO, href: '/docs' },
  })
}

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="120" height="40"><text x="0" y="29" fill="#fff"
  font-family="sans-serif" font-size="28" font-weight="700">Berth</text></svg>`

/** Headers of answers, which the transformation of the schemas leaves out. */
function headersOf(from: unknown, to: unknown): { response?: unknown } {
  if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null) return {}
  const given = from as Record<string, { headers?: unknown }>
  const response = Object.entries(to as Record<string, object>).map(([status, answer]) => {
    const headers = given[status]?.headers
    return [status, headers === undefined ? answer : { ...answer, headers }]
  })
  return { response: Object.fromEntries(response) as unknown }
}
