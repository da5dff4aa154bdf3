import { z } from 'zod'
import { driveParams } from './schemas/drive.ts'
import { lastEventIdHeaders } from './schemas/headers.ts'
import * as schemas from './schemas/object.ts'
import { eventsQuery, noQuery } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'

const tags = ['objects']
const ETag = HEADERS.etag
const bytes = z.string().meta({ description: 'The bytes of the object.', format: 'binary' })
const tar = { 'application/x-tar': { schema: z.string().meta({ description: 'A tar stream.', format: 'binary' }) } }
const octets = { 'application/octet-stream': { schema: bytes } }

/** What each route of objects takes and gives. */
export const OBJECT_SCHEMAS = {
  put: {
    operationId: 'putObject',
    tags,
    summary: 'Put an object',
    description: 'Stores the body, of any size and type, under a path; all of it or nothing becomes visible. A path may hold `/`.',
    params: schemas.objectParams,
    querystring: schemas.putObjectQuery,
    headers: schemas.putObjectHeaders,
    consumes: ['application/octet-stream'],
    response: responses({
      200: json('The object has a new version.', schemas.object, { ETag }),
      201: json('The object is there.', schemas.object, { ETag, Location: HEADERS.location }),
    }),
  },
  get: {
    operationId: 'getObject',
    tags,
    summary: 'Get an object',
    description: 'Its bytes, or a range of them. With `wait` it may still have to be made.',
    params: schemas.objectParams,
    querystring: schemas.getObjectQuery,
    headers: schemas.getObjectHeaders,
    response: responses({
      200: { description: 'The object.', content: octets, headers: { ETag } },
      206: { description: 'The range.', content: octets, headers: { ETag } },
      304: { description: 'It is what you have already.' },
    }),
  },
  head: {
    operationId: 'headObject',
    tags,
    summary: 'See that an object is there',
    description: 'Its size, type and tag.',
    params: schemas.objectParams,
    querystring: schemas.getObjectQuery,
    headers: schemas.getObjectHeaders,
    response: responses({ 200: { description: 'It is there.' }, 304: { description: 'It is what you have already.' } }),
  },
  remove: {
    operationId: 'deleteObject',
    tags,
    summary: 'Delete an object',
    description: 'Or, with `recursive`, everything below a path.',
    params: schemas.objectParams,
    querystring: schemas.deleteObjectQuery,
    response: responses({ 204: { description: 'It is gone.' } }),
  },
  list: {
    operationId: 'listObjects',
    tags,
    summary: 'List objects',
    description: 'In the order of their paths, page by page. What is not there is an empty list.',
    params: driveParams,
    querystring: schemas.listObjectsQuery,
    response: responses({ 200: json('A page of objects.', schemas.objectList) }),
  },
  getArchive: {
    operationId: 'getArchive',
    tags,
    summary: 'Get many objects as a tar stream',
    description: 'Everything below a path, in order and without times, so that the same objects give the same bytes.',
    params: driveParams,
    querystring: schemas.archiveQuery,
    response: responses({ 200: { description: 'The archive.', content: tar } }),
  },
  putArchive: {
    operationId: 'putArchive',
    tags,
    summary: 'Put many objects by a tar stream',
    description: 'All of its files become visible together, or none. Plain files and directories only.',
    params: driveParams,
    querystring: schemas.putArchiveQuery,
    consumes: ['application/x-tar'],
    response: responses({ 200: json('They are visible.', schemas.archiveResult) }),
  },
  presign: {
    operationId: 'presignObject',
    tags,
    summary: 'Make a URL for one object',
    description: 'Which needs no key and goes straight to the storage, for a quarter of an hour at most. Not every kind of drive has them.',
    params: driveParams,
    querystring: noQuery,
    body: schemas.presignBody,
    response: responses({ 200: json('The URL.', schemas.presigned) }),
  },
  events: {
    operationId: 'listDriveEvents',
    tags,
    summary: 'Read or follow what happens on a drive',
    description:
      'Every object that was put, deleted or committed through Berth. As `text/event-stream` all of them, and then each as it happens.',
    params: driveParams,
    querystring: eventsQuery,
    headers: lastEventIdHeaders,
    response: responses({
      200: {
        description: 'Events.',
        content: { 'application/json': { schema: schemas.driveEvents }, 'text/event-stream': { schema: schemas.driveEvent } },
      },
    }),
  },
}
