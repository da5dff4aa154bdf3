import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

export const SIGNINGS = ['v1', 'v1a'] as const
/** `v1`: HMAC-SHA256, `v1a`: ed25519 (Standard Webhooks 1.0, "signature scheme"). */
export type Signing = (typeof SIGNINGS)[number]

/** Base64: of `v1` the 32 bytes that both sides know, of `v1a` the private key (PKCS #8). Never shown once it is stored. */
export interface SigningKey {
  readonly signing: Signing
  readonly key: string
}

export interface SignedMessage {
  readonly id: string
  /** Of this try, in seconds since 1970. */
  readonly timestamp: number
  readonly body: string
}

export function newSigningKey(signing: Signing): SigningKey {
  if (signing === 'v1') return { signing, key: randomBytes(32).toString('base64') }
  const { privateKey } = generateKeyPairSync('ed25519')
  return { signing, key: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64') }
}

/** What a receiver verifies with: `whsec_…`, or the public `whpk_…` of a key pair. */
export function verificationKey({ signing, key }: SigningKey): string {
  if (signing === 'v1') return `whsec_${key}`
  const publicKey = createPublicKey(privateKeyOf(key)).export({ type: 'spki', format: 'der' })
  return `whpk_${publicKey.subarray(publicKey.length - ED25519_BYTES).toString('base64')}`
}

/** Of a raw public key, which stands last in its DER form (RFC 8410). */
const ED25519_BYTES = 32

/** The header `webhook-signature`: one signature for each key, so that receivers may know the old one or the new. */
export function signatureHeader(keys: readonly SigningKey[], { id, timestamp, body }: SignedMessage): string {
  const content = Buffer.from(`${id}.${timestamp}.${body}`, 'utf8')
  return keys.map((key) => `${key.signing},${signatureOf(key, content)}`).join(' ')
}

function signatureOf({ signing, key }: SigningKey, content: Buffer): string {
  if (signing === 'v1') return createHmac('sha256', Buffer.from(key, 'base64')).update(content).digest('base64')
  return sign(null, content, privateKeyOf(key)).toString('base64')
}

const privateKeyOf = (key: string) => createPrivateKey({ key: Buffer.from(key, 'base64'), type: 'pkcs8', format: 'der' })
