import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import type { MachineView } from './sandbox.ts'

/** This machine, as it is at the moment of each question. What cannot be looked at is not there. */
export const thisMachine: MachineView = {
  kindOf(path) {
    const facts = orNull(() => lstatSync(path))
    if (facts === null) return null
    if (facts.isSymbolicLink()) return 'link'
    return facts.isDirectory() ? 'directory' : 'other'
  },
  entriesOf: (directory) => orNull(() => readdirSync(directory)) ?? [],
  linkTarget: (link) => readlinkSync(link),
  resolve: (path) => orNull(() => realpathSync(path)) ?? path,
}

function orNull<T>(look: () => T): T | null {
  try {
    return look()
  } catch {
    return null
  }
}
