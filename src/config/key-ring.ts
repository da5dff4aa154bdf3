/** Keys by id, 32 bytes each. */
export type KeyEntries = readonly { readonly id: string; readonly key: Buffer }[]

/** Reads `id:base64,id:base64`; null for what is no such thing. */
export function keyRingOf(text: string): KeyEntries | null {
  const entries = text.split(',').map((pair) => {
    const [, id = '', encoded = ''] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/]{43}=)$/.exec(pair.trim()) ?? []
    return { id, key: Buffer.from(encoded, 'base64') }
  })
  const isRing =
    entries.every(({ id, key }) => id !== '' && key.byteLength === 32) && new Set(entries.map(({ id }) => id)).size === entries.length
  return isRing ? entries : null
}
