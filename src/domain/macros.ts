/**
 * What `${name}` stands for in commands and values of environment variables. Only these exact names are replaced:
 * any other `${NAME}` belongs to the shell or program that will read it. `$${job_id}` gives the text `${job_id}`.
 */
export interface MacroValues {
  readonly job_id: string
  readonly attempt: number
  readonly role: string
  readonly replica: number
}

/** The text with every macro replaced, once: what a value brings in is not looked at again. */
export function expandMacros(text: string, values: MacroValues): string {
  return text.replace(MACRO, (whole, escape: string, name: keyof MacroValues) => (escape === '' ? String(values[name]) : whole.slice(1)))
}

/** How many bytes the text has at most, whatever job, attempt, role and replica it is expanded for. */
export const longestExpansion = (text: string): number => Buffer.byteLength(expandMacros(text, LONGEST))

const MACRO = /\$(\$?)\{(job_id|attempt|role|replica)\}/g

const LONGEST: MacroValues = { job_id: 'x'.repeat(30), attempt: 9_999_999, role: 'x'.repeat(63), replica: 9999 }
