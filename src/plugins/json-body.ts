import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../domain/problem.ts'

const MAX_DEPTH = 32
const UTF8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The one way in for a body: JSON objects in UTF-8. An empty body is no body. Prototype keys (`__proto__`) are
 * refused by Fastify's own parser; what lies deeper than 32 levels is refused here, so that no recursion after it
 * can run out of stack.
 */
export const jsonBody = fp(
  async (app) => {
    app.removeAllContentTypeParsers()
    const parse = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes: Buffer, done) => {
      if (!isUtf8Declared(request)) return done(new Problem('unsupported_media_type', 'Only UTF-8 is understood.'))
      if (bytes.length === 0) return done(null, undefined)
      const text = decode(bytes)
      if (text === null) return done(new Problem('malformed_request', 'The body is not UTF-8.'))
      if (isTooDeep(text)) return done(new Problem('malformed_request', `The body may be nested ${MAX_DEPTH} levels deep at most.`))
      return parse(request, text, done)
    })
  },
  { name: 'json-body' },
)

const isUtf8Declared = ({ headers }: FastifyRequest): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(headers['content-type'] ?? '')?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}

function decode(bytes: Buffer): string | null {
  try {
    return UTF8.decode(bytes)
  } catch {
    return null
  }
}

/** Counts brackets outside of strings; what is not JSON is found out by the parser. */
function isTooDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (quoted) {
      if (character === '\\') at += 1
      else if (character === '"') quoted = false
    } else if (character === '"') quoted = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    if (depth > MAX_DEPTH) return true
  }
  return false
}
