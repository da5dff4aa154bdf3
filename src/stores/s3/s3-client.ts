import { S3Client } from '@aws-sdk/client-s3'
import type { GuardedAgents } from '../../outbound/guarded-agents.ts'
import type { S3Keys } from '../stores.ts'

export interface S3Address {
  /** Null for AWS. */
  readonly endpoint: string | null
  readonly region: string
  readonly pathStyle: boolean
}

/** Unsigned requests of public buckets. */
const ANONYMOUS = { signer: { sign: async <T>(request: T): Promise<T> => request } }

/** A client whose calls all end: the SDK has no time limits of its own. @param agents where a tenant has named the endpoint */
export function createS3Client(
  { endpoint, region, pathStyle }: S3Address,
  credentials: S3Keys | 'ambient' | null,
  agents: GuardedAgents | null = null,
): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint !== null && { endpoint }),
    // A copy: the SDK writes notes of its own on them.
    ...(credentials !== null && credentials !== 'ambient' && { credentials: { ...credentials } }),
    ...(credentials === null && ANONYMOUS),
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 3_000,
      requestTimeout: 120_000,
      socketTimeout: 30_000,
      throwOnRequestTimeout: true,
      ...(agents && { httpAgent: agents.http, httpsAgent: agents.https }),
    },
    requestStreamBufferSize: 64 * 1024,
    followRegionRedirects: false,
  })
}
