import type { StoreCredentials } from './stores.ts'
import type { ObjectBatch, ObjectStore } from './object-store.ts'

/** What is shorter would blot out words of other meaning. */
const SHORTEST = 6

/**
 * The same bucket, but that what it throws never repeats what it was opened with: a server may say in its refusal all that it
 * was asked with, and its words reach users, events and logs.
 */
export function discreetStore(store: ObjectStore, credentials: StoreCredentials): ObjectStore {
  const secrets = secretsIn(credentials).flatMap(formsOf)
  const discreet = <R>(done: Promise<R>): Promise<R> =>
    done.catch((error: unknown) => {
      conceal(error, secrets)
      throw error
    })
  return {
    head: (key, signal) => discreet(store.head(key, signal)),
    read: (key, options) => discreet(store.read(key, options)),
    write: (key, body, options) => discreet(store.write(key, body, options)),
    remove: (key, options) => discreet(store.remove(key, options)),
    list: (options) => discreet(store.list(options)),
    presign: (key, options) => discreet(store.presign(key, options)),
    batch(id): ObjectBatch {
      const batch = store.batch(id)
      return {
        write: (key, body, options) => discreet(batch.write(key, body, options)),
        keys: (signal) => discreet(batch.keys(signal)),
        check: (options) => discreet(batch.check(options)),
        commit: (options) => discreet(batch.commit(options)),
        abandon: (signal) => discreet(batch.abandon(signal)),
      }
    },
  }
}

function secretsIn(credentials: StoreCredentials): string[] {
  switch (credentials.type) {
    case 's3_keys':
      return [credentials.secretAccessKey, credentials.sessionToken ?? '']
    case 'azure_key':
      return [credentials.accountKey]
    case 'azure_sas':
      // The other parts of the token say what it is good for.
      return [/(?:^|[?&])sig=([^&]*)/.exec(credentials.token)?.[1] ?? credentials.token]
  }
}

function formsOf(secret: string): string[] {
  const plain = unescaped(secret)
  return [secret, plain, encodeURIComponent(plain)].filter(({ length }) => length >= SHORTEST)
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** In the words of an error and of all that it came from, before anybody has seen them. */
function conceal(error: unknown, secrets: readonly string[]): void {
  for (let each = error; each instanceof Error; each = each.cause) {
    const { message, stack } = each
    const clean = (text: string): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
    if (clean(`${message}${stack}`) === `${message}${stack}`) continue
    each.message = clean(message)
    if (stack !== undefined) each.stack = clean(stack)
  }
}
