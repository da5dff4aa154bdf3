import {
  AnonymousCredential,
  ContainerClient,
  newPipeline,
  StorageSharedKeyCredential,
  type RequestPolicyFactory,
} from '@azure/storage-blob'
import type { GuardedAgents } from '../../outbound/guarded-agents.ts'
import type { AzureBlobSource } from '../../domain/drives/drive.ts'
import type { AzureCredentials } from '../stores.ts'

/** Each try of a request ends by itself; the SDK waits for ever. */
const RETRIES = { maxTries: 3, tryTimeoutInMs: 120_000, maxRetryDelayInMs: 5_000 }

/** A container of a storage account. Null opens what is public. */
export function createContainerClient(
  { account, container, endpoint }: AzureBlobSource,
  credentials: AzureCredentials | null,
  agents: GuardedAgents,
): ContainerClient {
  const address = `${(endpoint ?? `https://${account}.blob.core.windows.net`).replace(/\/$/, '')}/${container}`
  const key =
    credentials?.type === 'azure_key' ? new StorageSharedKeyCredential(account, credentials.accountKey) : new AnonymousCredential()
  const pipeline = newPipeline(key, { retryOptions: RETRIES })
  pipeline.factories.push(through(agents))
  const token = credentials?.type === 'azure_sas' ? `?${credentials.token.replace(/^\?/, '')}` : ''
  return new ContainerClient(`${address}${token}`, pipeline)
}

const through = ({ http, https }: GuardedAgents): RequestPolicyFactory => ({
  create: (next) => ({
    sendRequest: (request) => next.sendRequest(Object.assign(request, { agent: request.url.startsWith('https:') ? https : http })),
  }),
})
