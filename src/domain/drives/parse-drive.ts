import type { Parsed } from '../fault.ts'
import { parseBody } from '../parse-body.ts'
import { DriveChangeBody, NewDriveBody, NewDriveByUrlBody } from './drive-body.ts'
import type { Drive } from './drive.ts'
import { managedNameOf, readDriveUrl } from './drive-url.ts'
import { normaliseDrive } from './normalise-drive.ts'

export type NewDrive = Omit<Drive, 'id' | 'version'>

/** Reads a drive to be registered, in fields or with its source in one text. All faults at once. */
export function parseNewDrive(body: unknown): Parsed<NewDrive> {
  return isObject(body) && !Object.hasOwn(body, 'kind') && Object.hasOwn(body, 'source') ? parseByUrl(body) : parseFields(body)
}

/** Reads what a drive is to be from now on. */
export function parseDriveChange(body: unknown, name: string): Parsed<NewDrive> {
  const read = parseBody(DriveChangeBody, body)
  return read.ok ? { ok: true, value: normaliseDrive({ ...read.value, name }) } : read
}

function parseFields(body: unknown): Parsed<NewDrive> {
  const read = parseBody(NewDriveBody, body)
  return read.ok ? { ok: true, value: normaliseDrive(read.value) } : read
}

function parseByUrl(body: object): Parsed<NewDrive> {
  const read = parseBody(NewDriveByUrlBody, body)
  if (!read.ok) return read
  const { source, ...rest } = read.value
  const url = readDriveUrl(source)
  const at = (code: string, detail: string): Parsed<NewDrive> => ({ ok: false, faults: [{ pointer: '/source', code, detail }] })
  if (!url.ok) return at(url.flaw.code, url.flaw.detail)
  if (url.subPath !== '') return at('requires_prefix', `"${source.slice(0, 80)}" must end in /: a drive is a directory of the bucket`)
  const managed = managedNameOf(source)
  if (managed !== null && managed !== rest.name) return at('name_differs', `${source} is the drive ${managed}: give it that name`)
  return parseFields({ ...url.fields, ...rest })
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
