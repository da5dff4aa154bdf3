const LINE = 60

/**
 * JSON as indented lines for people: nulls and brackets left out, short lists on one line, and of several like things
 * (the replicas) only the first.
 */
export function outline(value: unknown, indent = ''): string[] {
  if (typeof value !== 'object' || value === null) return [`${indent}${JSON.stringify(value)}`]
  if (Array.isArray(value)) return outlineList(value, indent)
  return Object.entries(value)
    .filter(([, field]) => field !== null)
    .flatMap(([name, field]) => outlineField(name, field, indent))
}

function outlineField(name: string, field: unknown, indent: string): string[] {
  const short = JSON.stringify(field)
  if (typeof field !== 'object' || field === null || short.length < LINE) return [`${indent}${name}: ${short}`]
  return [`${indent}${name}:`, ...outline(field, `${indent}  `)]
}

function outlineList(list: readonly unknown[], indent: string): string[] {
  const likeThings = list.every((item) => typeof item === 'object')
  const shown = likeThings ? list.slice(0, 1) : list
  const lines = shown.flatMap((item) => outline(item, `${indent}  `).map((line, i) => (i === 0 ? `${indent}- ${line.trimStart()}` : line)))
  return shown.length < list.length ? [...lines, `${indent}… and ${list.length - shown.length} more like it`] : lines
}
