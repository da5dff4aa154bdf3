import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { JobRequest, parseJobRequest } from '../domain/job-request.ts'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { readIdempotency } from '../plugins/idempotency-key.ts'
import { cancelJob } from '../services/jobs/cancel-job.ts'
import { getJob } from '../services/jobs/get-job.ts'
import { listJobs } from '../services/jobs/list-jobs.ts'
import { previewJob } from '../services/jobs/preview-job.ts'
import { retryJob } from '../services/jobs/retry-job.ts'
import type { StoredJob } from '../services/jobs/store-job.ts'
import { submitJob } from '../services/jobs/submit-job.ts'
import { waitForJob } from '../services/jobs/wait-for-job.ts'
import { jobId } from './job-id.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { idempotencyHeaders } from './schemas/headers.ts'
import { job, jobPage, jobPreview } from './schemas/job.ts'
import { jobListQuery, jobParams, jobQuery, labelsOf, noQuery, pageSize } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'

/** Submit, preview, list, read, cancel and retry jobs. */
export const jobRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post('/v1/jobs', { config: { access: 'key' }, schema: SUBMIT }, async (request, reply) => {
    const { project, body, headers } = request
    const submission = parsedBody(body, parseJobRequest)
    const idempotency = readIdempotency(headers['idempotency-key'], body)
    return answered(reply, await submitJob(deps, { project, request: submission, idempotency }))
  })

  app.post('/v1/jobs/preview', { config: { access: 'key' }, schema: PREVIEW }, ({ project, body }) =>
    previewJob(deps, { project, request: parsedBody(body, parseJobRequest) }),
  )

  app.get('/v1/jobs', { config: { access: 'key' }, schema: LIST }, ({ project, query }) => {
    const { state, scheduler, name, label, limit, cursor } = query
    const labels = labelsOf(label)
    const filters = { ...(state && { state }), ...(scheduler && { scheduler }), ...(name && { name }), ...(labels && { labels }) }
    return listJobs(deps, { project, filters, limit: pageSize(limit), cursor })
  })

  app.get('/v1/jobs/:id', { config: { access: 'key' }, schema: GET }, ({ project, params, query }, reply) => {
    const id = jobId(params.id)
    if (query.wait === undefined) return getJob(deps, { project, id })
    return waitForJob(deps, { project, id, seconds: query.wait, signal: disconnectSignal(reply) })
  })

  app.post('/v1/jobs/:id/cancel', { config: { access: 'key' }, schema: CANCEL }, async ({ project, params }, reply: FastifyReply) => {
    const canceled = await cancelJob(deps, { project, id: jobId(params.id) })
    return reply.code(202).send(canceled)
  })

  app.post(
    '/v1/jobs/:id/retry',
    { config: { access: 'key' }, schema: RETRY },
    async ({ project, params, headers }, reply: FastifyReply) => {
      const idempotency = readIdempotency(headers['idempotency-key'], {})
      return answered(reply, await retryJob(deps, { project, id: jobId(params.id), idempotency }))
    },
  )
}

function answered(reply: FastifyReply, { job, replayed }: StoredJob): FastifyReply {
  if (replayed) void reply.header('idempotency-replayed', 'true')
  return reply.code(202).header('location', `/v1/jobs/${job.id}`).send(job)
}

const RETRY = {
  operationId: 'retryJob',
  tags: ['jobs'],
  summary: 'Do an ended job again',
  description: 'A new job, asked for in the same words and resolved anew, that points to the old one. One that has not ended answers 409.',
  params: jobParams,
  querystring: noQuery,
  headers: idempotencyHeaders,
  response: responses({
    202: json('The new job is stored and will be started.', job, { Location: HEADERS.location, 'Idempotency-Replayed': HEADERS.replayed }),
  }),
}

const SUBMIT = {
  operationId: 'submitJob',
  tags: ['jobs'],
  summary: 'Submit a job',
  description:
    'Stores the job and answers at once; it is started afterwards. Nothing is stored when anything is wrong with ' +
    'it, or when its scheduler cannot give what it asks for: then every reason is told.',
  querystring: noQuery,
  headers: idempotencyHeaders,
  body: JobRequest,
  response: responses({
    202: json('The job is stored and will be started.', job, { Location: HEADERS.location, 'Idempotency-Replayed': HEADERS.replayed }),
  }),
}

const PREVIEW = {
  operationId: 'previewJob',
  tags: ['jobs'],
  summary: 'See what a job would become',
  description:
    'The job with all defaults, how each mount would be made, and what the scheduler would be asked in its own form. Nothing is stored.',
  querystring: noQuery,
  body: JobRequest,
  response: responses({ 200: json('What it would become.', jobPreview) }),
}

const LIST = {
  operationId: 'listJobs',
  tags: ['jobs'],
  summary: 'List jobs',
  description: 'The newest first, page by page. A page stays right while jobs come and go.',
  querystring: jobListQuery,
  response: responses({ 200: json('A page of jobs.', jobPage) }),
}

const GET = {
  operationId: 'getJob',
  tags: ['jobs'],
  summary: 'Read a job',
  description: 'Where it stands and what happened, with every attempt and replica. With `wait` the answer comes when the job has ended.',
  params: jobParams,
  querystring: jobQuery,
  response: responses({ 200: json('The job.', job) }),
}

const CANCEL = {
  operationId: 'cancelJob',
  tags: ['jobs'],
  summary: 'Cancel a job',
  description:
    'Asks for its end; it is `canceled` when nothing of it runs any more. Asking again is fine. A job that has ' +
    'ended otherwise answers 409.',
  params: jobParams,
  querystring: noQuery,
  response: responses({ 202: json('The end is asked for.', job) }),
}
