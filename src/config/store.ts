/** The bucket of managed drives. */
export interface StoreConfig {
  readonly bucket: string
  /** Empty, or ending in `/`. */
  readonly prefix: string
  readonly endpoint: string | null
  readonly region: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | 'ambient'
}

/** Reads `s3://bucket/prefix/?endpoint=…&region=…`, which has been checked. */
export function storeOf(text: string, keys: { accessKeyId: string | undefined; secretAccessKey: string | undefined }): StoreConfig {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/?]+)\/?([^?]*)/.exec(text) ?? []
  const query = new URL(text).searchParams
  const { accessKeyId, secretAccessKey } = keys
  const given = accessKeyId !== undefined && secretAccessKey !== undefined
  return {
    bucket,
    prefix,
    endpoint: query.get('endpoint'),
    region: query.get('region') ?? 'us-east-1',
    credentials: given ? { accessKeyId, secretAccessKey } : 'ambient',
  }
}
