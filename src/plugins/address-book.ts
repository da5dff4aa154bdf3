import type { FastifyInstance } from 'fastify'

interface Address {
  readonly pattern: RegExp
  readonly methods: readonly string[]
}

/** Every route that an app has, by address. Filled while routes are added. */
export type AddressBook = readonly Address[]

/** Starts a book that notes every route added to the app from now on. */
export function keepAddressBook(app: FastifyInstance): AddressBook {
  const book: Address[] = []
  app.addHook('onRoute', ({ url, method }) => {
    book.push({ pattern: addressPattern(url), methods: [method].flat() })
  })
  return book
}

/** Methods that some route takes at this path, in alphabetical order; none if nothing lives there. */
export function methodsAt(book: AddressBook, path: string): string[] {
  const methods = book.filter(({ pattern }) => pattern.test(path)).flatMap((address) => address.methods)
  return [...new Set(methods)].sort()
}

/** A route's address as a pattern: `:name` is one part of a path, `*` any rest. */
function addressPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+'
    if (part === '*') return '.*'
    return part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${parts.join('/')}$`)
}
