import { z } from 'zod'
import { nameText } from './names-on-the-wire.ts'

const value = z.string().min(1).max(8192)

/** What a secret may hold, told apart by `type`. */
export const SecretValue = z
  .discriminatedUnion('type', [
    z
      .strictObject({ type: z.literal('s3_keys'), accessKeyId: value, secretAccessKey: value, sessionToken: value.optional() })
      .meta({ id: 'S3Keys', description: 'Keys of S3, of a compatible server, or HMAC keys of Google Cloud Storage.' }),
    z
      .strictObject({
        type: z.literal('azure_key'),
        accountKey: z.base64().min(1).max(8192).meta({ description: 'One of the two access keys of the storage account, base64.' }),
      })
      .meta({ id: 'AzureKey', description: 'The access key of an Azure storage account.' }),
    z
      .strictObject({ type: z.literal('azure_sas'), token: value.meta({ description: 'Its query, such as `sv=…&sp=rwdl&sig=…`.' }) })
      .meta({ id: 'AzureSas', description: 'A shared access signature for a container of Azure, with the rights that the drive needs.' }),
    z.strictObject({ type: z.literal('opaque'), value }).meta({ id: 'OpaqueSecret', description: 'Any text.' }),
  ])
  .meta({ id: 'SecretValue', description: 'What the secret holds, told apart by `type`. It is never shown again.' })
export type SecretValue = z.infer<typeof SecretValue>

/** A secret to be stored, as a client writes it. */
export const NewSecretBody = z
  .strictObject({ name: nameText().meta({ description: 'Name of the secret.', examples: ['s3-datasets'] }), value: SecretValue })
  .meta({ id: 'NewSecret', description: 'A secret to store.' })

/** The next version of a secret. */
export const SecretChangeBody = z
  .strictObject({ value: SecretValue })
  .meta({ id: 'SecretChange', description: 'What the secret is to hold from now on.' })
