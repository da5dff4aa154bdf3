import { describe, expect, it } from 'vitest'
import type { Problem } from '../../../src/domain/problem.ts'
import { chooseMediaType } from '../../../src/plugins/media-type.ts'

const OFFERED = ['text/plain', 'application/x-ndjson', 'text/event-stream'] as const

describe('chooseMediaType', () => {
  it.each([
    [undefined, 'text/plain'],
    ['', 'text/plain'],
    ['*/*', 'text/plain'],
    ['text/event-stream', 'text/event-stream'],
    ['TEXT/Event-Stream; charset=utf-8', 'text/event-stream'],
    ['text/*', 'text/plain'],
    ['application/*', 'application/x-ndjson'],
    ['application/json, application/x-ndjson', 'application/x-ndjson'],
    ['text/plain;q=0.5, text/event-stream;q=0.9', 'text/event-stream'],
    ['text/plain;q=0, */*', 'application/x-ndjson'],
    ['text/event-stream, */*;q=0.1', 'text/event-stream'],
  ])('takes from %j the type %s', (accept, type) => {
    expect(chooseMediaType(accept, OFFERED)).toBe(type)
  })

  it.each(['application/json', 'image/*', '*/*;q=0', 'text/plain;q=0'])(
    'refuses %j, which no type fits, and says what there is',
    (accept) => {
      expect(() => chooseMediaType(accept, OFFERED)).toThrow(
        expect.objectContaining({ code: 'not_acceptable', message: expect.stringContaining('application/x-ndjson') as string }) as Problem,
      )
    },
  )
})
