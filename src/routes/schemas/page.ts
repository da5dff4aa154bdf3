import { z } from 'zod'

/** A page of a list, as a named component. */
export const pageOf = <T extends z.ZodType>(item: T, id: string, description: string) =>
  z
    .object({
      items: z.array(item),
      nextCursor: z.string().nullable().meta({ description: 'Give it back as `cursor` for the next page; null at the end.' }),
    })
    .meta({ id, description })
