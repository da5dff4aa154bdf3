import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Keys that seal secrets, by id, 32 bytes each: the first seals, all open, so that keys can be changed. */
export type KeyRing = readonly { readonly id: string; readonly key: Buffer }[]

export interface Sealed {
  readonly keyId: string
  readonly sealedKey: Buffer
  readonly sealed: Buffer
}

/**
 * AES-256-GCM (NIST SP 800-38D) in an envelope: a random key for each value, sealed under the ring's. `context` is what
 * the value belongs to: sealed text that is moved elsewhere does not open.
 */
export function seal(ring: KeyRing, text: string, context: string): Sealed {
  const first = ring[0]
  if (first === undefined) throw new Error('there is no key to seal secrets with')
  const dataKey = randomBytes(32)
  return {
    keyId: first.id,
    sealedKey: encrypt(first.key, dataKey, context),
    sealed: encrypt(dataKey, Buffer.from(text, 'utf8'), context),
  }
}

/** @throws Error without anything of the value: no such key, or not what was sealed */
export function open(ring: KeyRing, { keyId, sealedKey, sealed }: Sealed, context: string): string {
  const entry = ring.find(({ id }) => id === keyId)
  if (entry === undefined) throw new Error(`the key ${keyId} that sealed a secret is not in the ring`)
  return decrypt(decrypt(entry.key, sealedKey, context), sealed, context).toString('utf8')
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

function encrypt(key: Buffer, plain: Buffer, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, sealed: Buffer, context: string): Buffer {
  const cut = sealed.length - TAG_BYTES
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(cut))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, cut)), decipher.final()])
}
