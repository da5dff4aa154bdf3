import { describe, expect, it } from 'vitest'
import { encodeEvent } from '../../../src/plugins/server-sent-events.ts'

describe('encodeEvent', () => {
  it('writes id, name and data as JSON', () => {
    expect(encodeEvent({ id: 7, event: 'problem', data: { a: 1 } })).toBe('id: 7\nevent: problem\ndata: {"a":1}\n\n')
  })

  it('keeps newlines of the data inside of the data', () => {
    expect(encodeEvent({ data: 'a\n\nid: 99\r\nb' })).toBe('data: "a\\n\\nid: 99\\r\\nb"\n\n')
  })

  it.each(['1\ndata: forged', '1\r', '', 'a b', 'ü'])('refuses the id %j, which could forge an event', (id) => {
    expect(() => encodeEvent({ id, data: null })).toThrow(TypeError)
    expect(() => encodeEvent({ event: id, data: null })).toThrow(TypeError)
  })
})
