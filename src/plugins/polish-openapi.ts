import { isDeepStrictEqual } from 'node:util'
import type { OpenAPIV3_1 } from 'openapi-types'

/** A JSON object of the document, before anything is known of it. */
type Node = Record<string, unknown>
type Schemas = Record<string, Node>

const REF = '#/components/schemas/'

/**
 * Makes what comes out of the schemas good for generated clients: each component once, unions with their
 * discriminator, answers open for new fields, nullable types as type lists, whole numbers with a format.
 */
export function polishOpenApi(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const polished = structuredClone(document) as OpenAPIV3_1.Document
  const schemas = (polished.components?.schemas ?? {}) as Schemas
  polished.paths = Object.fromEntries(Object.entries(polished.paths ?? {}).map(([path, item]) => [path.replace('{*}', '{path}'), item]))
  foldInputs(polished as unknown as Node, schemas)
  for (const schema of Object.values(schemas)) addDiscriminator(schema, schemas)
  visit(polished, (node) => {
    openForNewFields(node)
    simplifyNumber(node)
    flattenNullable(node)
    if (node['in'] === 'path' && node['name'] === '*') node['name'] = 'path'
    if (node['in'] === 'header' && typeof node['name'] === 'string') node['name'] = titleCase(node['name'])
    if (node['format'] === 'date-time') delete node['pattern']
    if (typeof node['const'] === 'string') node['enum'] = [node['const']]
    if ('enum' in node) delete node['const']
  })
  dropUnused(polished as unknown as Node, schemas)
  if (polished.components) polished.components.schemas = sortedByName(schemas) as never
  return polished
}

/** Each named schema comes twice, as it is sent and as `…Input`; where nothing but the name differs, one is enough. */
function foldInputs(document: Node, schemas: Schemas): void {
  const twins = Object.keys(schemas).filter((name) => name.endsWith('Input') && schemas[name.slice(0, -5)])
  for (const input of twins) {
    const name = input.slice(0, -5)
    if (!isDeepStrictEqual(comparable(schemas[name]), comparable(schemas[input]))) continue
    schemas[name] = schemas[input] as Node
    delete schemas[input]
    rename(document, input, name)
  }
}

/** Open or closed does not matter, and neither does which of two twins is meant. */
const comparable = (schema: unknown): unknown =>
  JSON.parse(
    JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' && value === false ? undefined : value)).replaceAll(
      'Input"',
      '"',
    ),
  )

function rename(document: Node, from: string, to: string): void {
  visit(document, (node) => {
    if (node['$ref'] === REF + from) node['$ref'] = REF + to
  })
}

/** A union of objects that each have a constant in the same field is told apart by it. */
function addDiscriminator(schema: Node, schemas: Schemas): void {
  const members = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(members) || !members.every((member: Node) => typeof member['$ref'] === 'string')) return
  const targets = members.map((member: { $ref: string }) => ({ ref: member.$ref, ...fieldsOf(schemas[member.$ref.slice(REF.length)]) }))
  const name = Object.keys(targets[0]?.properties ?? {}).find((field) =>
    targets.every(({ properties, required }) => typeof properties[field]?.['const'] === 'string' && required.includes(field)),
  )
  if (name === undefined) return
  const mapping = Object.fromEntries(targets.map(({ ref, properties }) => [properties[name]?.['const'] as string, ref]))
  schema['discriminator'] = { propertyName: name, mapping }
}

function fieldsOf(schema: Node = {}): { properties: Record<string, Node>; required: string[] } {
  return { properties: (schema['properties'] ?? {}) as Record<string, Node>, required: (schema['required'] ?? []) as string[] }
}

/** Clients must pass over fields that they do not know. */
function openForNewFields(node: Node): void {
  if (node['additionalProperties'] === false) delete node['additionalProperties']
  if (isDeepStrictEqual(node['additionalProperties'], {})) node['additionalProperties'] = true
  if (node['type'] === 'object') delete node['propertyNames']
}

function simplifyNumber(node: Node): void {
  if (node['type'] !== 'integer' || 'format' in node) return
  if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum']
  if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum']
  node['format'] = typeof node['maximum'] === 'number' && node['maximum'] < 2 ** 31 ? 'int32' : 'int64'
}

/** `anyOf: [{type: X}, {type: null}]` says the same as `type: [X, null]`, which more generators understand. */
function flattenNullable(node: Node): void {
  const members = node['anyOf']
  if (!Array.isArray(members) || members.length !== 2) return
  const [value, nothing] = members as [Node, Node]
  if (nothing['type'] !== 'null' || typeof value['type'] !== 'string') return
  delete node['anyOf']
  const own = { ...node }
  Object.assign(node, value, own, { type: [value['type'], 'null'] })
}

/** Headers are read in lower case and written like `Last-Event-Id`. */
const titleCase = (header: string): string => header.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())

/** Schemas that only build others are components too; nobody needs to see them. */
function dropUnused(document: Node, schemas: Schemas): void {
  for (;;) {
    const used = new Set<unknown>()
    visit(document, (node) => used.add(node['$ref']))
    const unused = Object.keys(schemas).filter((name) => !used.has(REF + name))
    if (unused.length === 0) return
    for (const name of unused) delete schemas[name]
  }
}

const sortedByName = (schemas: Schemas): Schemas => Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Every object of the document, the outer ones first. Examples are data and are left alone. */
function visit(value: unknown, see: (node: Node) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, see)
  else if (typeof value === 'object' && value !== null) {
    see(value as Node)
    for (const [key, inner] of Object.entries(value)) if (key !== 'examples' && key !== 'example') visit(inner, see)
  }
}
