import { z } from 'zod'

/** Pattern of the names of jobs, roles, job definitions and schedulers. */
export const NAME_PATTERN = /^[a-zA-Z0-9]([a-zA-Z0-9_.-]{0,61}[a-zA-Z0-9])?$/

/** A name on the wire. */
export const nameText = () =>
  z.string().regex(NAME_PATTERN, 'must be 1 to 63 letters, digits, "_", "." or "-", beginning and ending with a letter or digit')
