import { ifMatchHeaders, ifNoneMatchHeaders } from './schemas/headers.ts'
import {
  definitionPage,
  definitionVersion,
  jobDefinition,
  newDefinitionVersion,
  newJobDefinition,
  versionPage,
} from './schemas/job-definition.ts'
import { definitionParams, noQuery, pageQuery, versionParams } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'

const tags = ['job-definitions']
const ETag = HEADERS.etag

/** What each route of job definitions takes and gives. */
export const DEFINITION_SCHEMAS = {
  create: {
    operationId: 'createJobDefinition',
    tags,
    summary: 'Make a job definition',
    description: 'Stores a body of a job under a name, as version 1. It is submitted by `POST /v1/jobs` with `definition`.',
    querystring: noQuery,
    body: newJobDefinition,
    response: responses({ 201: json('The definition is made.', jobDefinition, { Location: HEADERS.location, ETag }) }),
  },
  list: {
    operationId: 'listJobDefinitions',
    tags,
    summary: 'List job definitions',
    description: 'Those that are not retired, by name, page by page.',
    querystring: pageQuery,
    response: responses({ 200: json('A page of job definitions.', definitionPage) }),
  },
  get: {
    operationId: 'getJobDefinition',
    tags,
    summary: 'Read a job definition',
    description: 'Its newest version. A retired one can still be read.',
    params: definitionParams,
    querystring: noQuery,
    headers: ifNoneMatchHeaders,
    response: responses({ 200: json('The definition.', jobDefinition, { ETag }), 304: { description: 'It is what you have already.' } }),
  },
  replace: {
    operationId: 'replaceJobDefinition',
    tags,
    summary: 'Make the next version of a job definition',
    description: 'The versions before stay as they are. A retired definition comes back by it. Needs `If-Match`.',
    params: definitionParams,
    querystring: noQuery,
    headers: ifMatchHeaders,
    body: newDefinitionVersion,
    response: responses({ 200: json('The definition with its next version.', jobDefinition, { ETag }) }),
  },
  retire: {
    operationId: 'retireJobDefinition',
    tags,
    summary: 'Retire a job definition',
    description: 'It is not listed and cannot be submitted any more; its versions can still be read. Needs `If-Match`.',
    params: definitionParams,
    querystring: noQuery,
    headers: ifMatchHeaders,
    response: responses({ 204: { description: 'It is retired.' } }),
  },
  listVersions: {
    operationId: 'listJobDefinitionVersions',
    tags,
    summary: 'List the versions of a job definition',
    description: 'The newest first, page by page, those of a retired definition too.',
    params: definitionParams,
    querystring: pageQuery,
    response: responses({ 200: json('A page of versions.', versionPage) }),
  },
  getVersion: {
    operationId: 'getJobDefinitionVersion',
    tags,
    summary: 'Read a version of a job definition',
    description: 'Versions never change.',
    params: versionParams,
    querystring: noQuery,
    response: responses({ 200: json('The version.', definitionVersion, { ETag }) }),
  },
}
