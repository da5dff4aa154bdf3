/**
 * The known name that was most likely meant, or null. Tells other spellings (`memory_mib`), beginnings (`timeout`),
 * slips of a letter or two, and words that other tools use for the same thing (`cmd`, `dst`).
 */
export function nearestName(given: string, known: readonly string[]): string | null {
  const plain = fold(given)
  if (plain === '' || plain.length > 64) return null
  const same = known.find((name) => fold(name) === plain)
  if (same !== undefined) return same
  const meant = (WORDS_OF_OTHERS.get(plain) ?? []).find((word) => known.includes(word))
  if (meant !== undefined) return meant
  return known.find((name) => isBeginning(plain, fold(name)) || isBeginning(fold(name), plain)) ?? closest(plain, known)
}

const WORDS_OF_OTHERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['args', ['command']],
  ['cmd', ['command']],
  ['cwd', ['workingDir']],
  ['environment', ['env']],
  ['volumes', ['mounts']],
  ['numreplicas', ['replicas']],
  ['maxretries', ['retries', 'max']],
  ['src', ['source']],
  ['dst', ['path', 'dst']],
  ['destination', ['path']],
  ['target', ['path']],
  ['mountpath', ['path', 'dst']],
  ['path', ['dst']],
  ['readonly', ['access', 'ro']],
  ['readwrite', ['rw']],
  ['access', ['readonly']],
  ['perm', ['permissions']],
  ['mode', ['access', 'readonly']],
  ['tmpfssize', ['size', 'sizeMiB']],
  ['cpu', ['cpus']],
  ['gpu', ['gpus']],
  ['mem', ['memoryMiB']],
  ['shmsize', ['shmMiB']],
  ['tasks', ['roles']],
])

const isBeginning = (start: string, whole: string): boolean => start.length >= 3 && whole.startsWith(start)

const fold = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, '')

function closest(plain: string, known: readonly string[]): string | null {
  const allowed = Math.min(2, Math.floor(plain.length / 3))
  const ranked = known.map((name) => ({ name, distance: editDistance(plain, fold(name)) })).sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  return best !== undefined && best.distance <= allowed ? best.name : null
}

/** Levenshtein: how many letters to add, drop or change. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1]
    for (const [column, other] of [...to].entries()) {
      next.push(Math.min((next[column] ?? 0) + 1, (row[column + 1] ?? 0) + 1, (row[column] ?? 0) + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row[to.length] ?? 0
}
