import { ifMatchHeaders, ifNoneMatchHeaders } from './schemas/headers.ts'
import { compatibility, deleteDriveQuery, drive, driveChange, driveListQuery, drivePage, driveParams, newDrive } from './schemas/drive.ts'
import { jobQuery, noQuery } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'

const tags = ['drives']
const ETag = HEADERS.etag

/** What each route of drives takes and gives. */
export const DRIVE_SCHEMAS = {
  create: {
    operationId: 'createDrive',
    tags,
    summary: 'Register a drive',
    description: 'Says what and where some storage is, once, so that any job can mount it by name.',
    querystring: noQuery,
    body: newDrive,
    response: responses({ 201: json('The drive is registered.', drive, { Location: HEADERS.location, ETag }) }),
  },
  list: {
    operationId: 'listDrives',
    tags,
    summary: 'List drives',
    description: 'By name, page by page.',
    querystring: driveListQuery,
    response: responses({ 200: json('A page of drives.', drivePage) }),
  },
  get: {
    operationId: 'getDrive',
    tags,
    summary: 'Read a drive',
    description: 'What it is, where, and what a worker found when it last tried it.',
    params: driveParams,
    querystring: noQuery,
    headers: ifNoneMatchHeaders,
    response: responses({ 200: json('The drive.', drive, { ETag }), 304: { description: 'It is what you have already.' } }),
  },
  replace: {
    operationId: 'replaceDrive',
    tags,
    summary: 'Change a drive',
    description: 'Everything but its name and kind. Jobs that were submitted before keep it as it was. Needs `If-Match`.',
    params: driveParams,
    querystring: noQuery,
    headers: ifMatchHeaders,
    body: driveChange,
    response: responses({ 200: json('The drive as it is now.', drive, { ETag }) }),
  },
  remove: {
    operationId: 'deleteDrive',
    tags,
    summary: 'Take a drive off the register',
    description:
      'Refused while live jobs use it. What a bucket or file system holds stays; what a managed drive holds goes only with ' +
        '`objects=delete`. Needs `If-Match`.',
    params: driveParams,
    querystring: deleteDriveQuery,
    headers: ifMatchHeaders,
    response: responses({ 204: { description: 'It is gone.' } }),
  },
  compatibility: {
    operationId: 'getDriveCompatibility',
    tags,
    summary: 'See how a drive can be mounted',
    description: 'For each configured scheduler, mode and access: how it would be made, or every reason against it.',
    params: driveParams,
    querystring: noQuery,
    response: responses({ 200: json('What is possible.', compatibility) }),
  },
  check: {
    operationId: 'checkDrive',
    tags,
    summary: 'Try a drive',
    description:
      'A worker lists, reads and, where it may, writes; what it found stays on the drive as `checked`. With `wait` the answer ' +
        'comes with that.',
    params: driveParams,
    querystring: jobQuery,
    response: responses({ 202: json('A worker will try it, or has.', drive) }),
  },
  recount: {
    operationId: 'recountDrive',
    tags,
    summary: 'Count what a drive holds',
    description:
      'The figures of a managed drive are kept with every change through Berth. Jobs that mount it live change it behind ' +
      'them: this makes `usage` anew from the objects themselves.',
    params: driveParams,
    querystring: noQuery,
    response: responses({ 200: json('The drive, with the new figures.', drive) }),
  },
}
