import { z } from 'zod'

/** A moment, RFC 3339 in UTC with milliseconds. */
export const time = z.iso.datetime().meta({ description: 'RFC 3339, UTC, with milliseconds.', examples: ['2026-01-31T12:00:00.000Z'] })
