import { z } from 'zod'
import { NewSecretBody, SecretChangeBody } from '../../domain/secret-body.ts'
import { pageOf } from './page.ts'
import { time } from './time.ts'

export const newSecret = NewSecretBody
export const secretChange = SecretChangeBody

export const secret = z
  .object({ name: z.string(), version: z.int().meta({ description: 'Grows with every change.' }), createdAt: time, updatedAt: time })
  .meta({ id: 'Secret', description: 'A secret, without what it holds: that is never shown again.' })

export const secretPage = pageOf(secret, 'SecretPage', 'Secrets, by name.')

export const secretParams = z.strictObject({ name: z.string().meta({ description: 'Name of the secret.', examples: ['s3-datasets'] }) })
