import { Problem } from '../../domain/problem.ts'
import { newSigningKey, verificationKey, type SigningKey } from '../../domain/webhooks/signature.ts'
import { open, seal, type KeyRing } from '../secrets/envelope.ts'

/** Number of the row that holds the headers; keys are counted from 1. */
export const HEADERS_ROW = 0

/** A sealed row of `webhook_key`. */
export interface KeyRow {
  readonly webhook_id: string
  readonly number: number
  readonly key_id: string
  readonly sealed_key: Buffer
  readonly sealed: Buffer
}

const contextOf = (webhookId: string, number: number): string => `berth webhook ${webhookId} key ${number}`

/** @throws Problem `unavailable` where the operator has given no keys to seal with */
export function sealRow(ring: KeyRing, webhookId: string, number: number, value: SigningKey | Readonly<Record<string, string>>): KeyRow {
  if (ring.length === 0) throw new Problem('unavailable', 'Webhooks cannot be stored: the operator has given no BERTH_SECRET_KEYS.')
  const { keyId, sealedKey, sealed } = seal(ring, JSON.stringify(value), contextOf(webhookId, number))
  return { webhook_id: webhookId, number, key_id: keyId, sealed_key: sealedKey, sealed }
}

/** What a delivery needs of a webhook's sealed rows. */
export interface OpenedKeys {
  readonly headers: Readonly<Record<string, string>>
  /** The newest first. */
  readonly keys: readonly SigningKey[]
}

export function openRows(ring: KeyRing, rows: readonly KeyRow[]): OpenedKeys {
  const opened = rows.map((row) => ({ number: row.number, text: openRow(ring, row) }))
  const headers = opened.find(({ number }) => number === HEADERS_ROW)
  return {
    headers: headers === undefined ? {} : (JSON.parse(headers.text) as Record<string, string>),
    keys: opened
      .filter(({ number }) => number !== HEADERS_ROW)
      .sort((a, b) => b.number - a.number)
      .map(({ text }) => JSON.parse(text) as SigningKey),
  }
}

const openRow = (ring: KeyRing, row: KeyRow): string =>
  open(ring, { keyId: row.key_id, sealedKey: row.sealed_key, sealed: row.sealed }, contextOf(row.webhook_id, row.number))

/** A new key, and what the receiver verifies with, which is shown once. */
export function newKey(ring: KeyRing, webhookId: string, number: number, signing: SigningKey['signing']): { row: KeyRow; shown: string } {
  const key = newSigningKey(signing)
  return { row: sealRow(ring, webhookId, number, key), shown: verificationKey(key) }
}
