import { REQUEST_LIMITS } from './request-limits.ts'

/**
 * What `${name}` stands for in commands and values of environment variables. Only these exact names are replaced, and
 * `${drive.NAME.path}`:
 * any other `${NAME}` belongs to the shell or program that will read it. `$${job_id}` gives the text `${job_id}`.
 */
export interface MacroValues {
  readonly job_id: string
  readonly attempt: number
  readonly role: string
  readonly replica: number
  /** Where the role sees the drive of this name; null if it does not. */
  readonly pathOf: (drive: string) => string | null
}

/** The text with every macro replaced, once: what a value brings in is not looked at again. */
export function expandMacros(text: string, values: MacroValues): string {
  return text.replace(MACRO, (whole, escape: string, name: Plain | undefined, drive: string) => {
    if (escape !== '') return whole.slice(1)
    return name === undefined ? (values.pathOf(drive) ?? whole) : String(values[name])
  })
}

/** The drives whose `${drive.NAME.path}` stands in a text. */
export const drivesNamedIn = (text: string): string[] =>
  [...text.matchAll(MACRO)].flatMap(([, escape, , drive]) => (escape === '' && drive !== undefined ? [drive] : []))

/** How many bytes the text has at most, whatever job, attempt, role and replica it is expanded for. */
export const longestExpansion = (text: string): number => Buffer.byteLength(expandMacros(text, LONGEST))

const MACRO = /\$(\$?)\{(?:(job_id|attempt|role|replica)|drive\.([a-z0-9-]{1,63})\.path)\}/g

type Plain = Exclude<keyof MacroValues, 'pathOf'>

const LONGEST: MacroValues = {
  ...{ job_id: 'x'.repeat(30), attempt: 9_999_999, role: 'x'.repeat(63), replica: 9999 },
  pathOf: () => 'x'.repeat(REQUEST_LIMITS.pathBytes),
}
