/** The value that a path of keys and indexes leads to in plain JSON, or undefined. Own fields only. */
export function valueAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    return (value as Record<PropertyKey, unknown>)[key]
  }, body)
}
