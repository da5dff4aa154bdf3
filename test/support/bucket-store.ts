import { startTestS3 } from './s3-server.ts'

/** A store of managed drives, as the service's environment names it. */
export interface TestStore {
  readonly env: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** @param program the S3 server's */
export async function startBucketStore(program: string): Promise<TestStore> {
  const { endpoint, accessKeyId, secretAccessKey, stop } = await startTestS3(program)
  const env = {
    BERTH_STORE: `s3://bucket/berth/?endpoint=${endpoint}`,
    BERTH_STORE_ACCESS_KEY_ID: accessKeyId,
    BERTH_STORE_SECRET_ACCESS_KEY: secretAccessKey,
  }
  return { env, stop }
}
