import { z } from 'zod'
import { driveParams } from './drive.ts'
import { count, limit, cursor, word, yesOrNo } from './query-words.ts'
import { time } from './time.ts'

export const object = z
  .object({
    path: z.string().meta({ description: 'Relative to the drive, or to its component.' }),
    component: z.string().nullable().meta({ description: 'Who made it, on a drive that belongs to its producers.' }),
    size: z.int().meta({ description: 'In bytes.' }),
    etag: z.string().meta({ description: 'Strong entity tag of this version, with its quotes.' }),
    sha256: z.string().nullable().meta({ description: '64 hex digits, where it is known.' }),
    contentType: z.string().nullable(),
    modifiedAt: time,
  })
  .meta({ id: 'DriveObject', description: 'An object on a drive.' })

export const objectList = z
  .object({
    items: z.array(object),
    prefixes: z.array(z.string()).meta({ description: 'Directories at this level, ending in `/`; empty for a recursive list.' }),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'DriveObjectPage', description: 'A page of objects, in the order of their paths.' })

export const archiveResult = z
  .object({ objects: z.int(), bytes: z.int() })
  .meta({ id: 'ArchiveResult', description: 'What has become visible.' })

export const presigned = z
  .object({ url: z.string(), method: z.string(), expiresAt: time })
  .meta({ id: 'PresignedUrl', description: 'A URL that needs no key, for one object and one method, for a while.' })

export const presignBody = z
  .strictObject({
    path: z.string(),
    method: z.enum(['GET', 'PUT']),
    expiresInSeconds: z.int().min(1).max(900).optional().meta({ description: '900 if it is left out.' }),
  })
  .meta({ id: 'PresignRequest', description: 'For which object, and what may be done.' })

export const driveEvent = z
  .object({
    sequence: z.int().meta({ description: 'Per drive, from 1, without gaps.' }),
    type: z.string().meta({ description: '`object_created`, `object_deleted` or `objects_committed`. More may be added.' }),
    data: z.unknown(),
    at: time,
  })
  .meta({ id: 'DriveEvent', description: 'A recorded change of the objects of a drive.' })

export const driveEvents = z
  .object({ items: z.array(driveEvent) })
  .meta({ id: 'DriveEvents', description: 'Events in order. For the next page give the last `sequence` as `after`.' })

export const objectParams = driveParams.extend({
  '*': z.string().meta({ description: 'Path of the object, with `/` between its parts.', examples: ['train/0001.tar'] }),
})

const component = word(255).optional().meta({ description: 'Whose object, on a drive that belongs to its producers.' })
const prefix = word(1024).optional().meta({ description: 'Only what lies below it; for archives without a slash at its end.' })

export const getObjectQuery = z.strictObject({
  component,
  wait: count(0, 60).optional().meta({ description: 'Wait up to so many seconds for it to appear.' }),
})
export const putObjectQuery = z.strictObject({ component })
export const deleteObjectQuery = z.strictObject({
  component,
  recursive: yesOrNo().optional().meta({ description: 'All that lies below it too.' }),
  missing: z.enum(['ok']).optional().meta({ description: '`ok`: one that is not there is fine.' }),
})
export const listObjectsQuery = z.strictObject({
  prefix,
  recursive: yesOrNo().optional().meta({ description: 'Everything below; true if neither it nor `delimiter` is given.' }),
  delimiter: z.enum(['/']).optional().meta({ description: '`/` gives one level, with its directories as `prefixes`.' }),
  component,
  limit,
  cursor,
})
export const archiveQuery = z.strictObject({ prefix })
export const putArchiveQuery = z.strictObject({
  prefix,
  component,
  onConflict: z
    .enum(['fail', 'replace', 'keep'])
    .optional()
    .meta({ description: 'For what is there already; `replace` if it is left out.' }),
})

export const putObjectHeaders = z.looseObject({
  'if-match': z.string().optional().meta({ description: 'Only if the object is still this version.' }),
  'if-none-match': z.string().optional().meta({ description: '`*`: only if there is none yet.' }),
  'content-digest': z
    .string()
    .optional()
    .meta({ description: '`sha-256=:base64:`; the object is stored only if its bytes hash to it (RFC 9530).' }),
})
export const getObjectHeaders = z.looseObject({
  range: z
    .string()
    .optional()
    .meta({ description: 'One range of bytes.', examples: ['bytes=0-1023'] }),
  'if-none-match': z.string().optional().meta({ description: 'ETag that you have already: 304 if it is still that.' }),
})
