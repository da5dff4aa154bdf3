// Writes the pages of docs/ that come from the code; `--check` only says whether they are stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { Environment } from '../src/config/environment.ts'
import { compatibilityPage } from './compatibility-page.ts'
import { DockerSchedulerEntry, LocalSchedulerEntry } from '../src/config/schedulers-file.ts'

const EXAMPLE = {
  schedulers: {
    local: { kind: 'local', isolation: 'auto', bindRoots: [{ root: '/srv', readOnly: true }] },
    docker: {
      kind: 'docker',
      host: 'unix:///var/run/docker.sock',
      bindRoots: [{ root: '/srv', readOnly: true }],
      devices: ['/dev/fuse'],
      registries: { 'localhost:5000': { username: 'berth', passwordFile: 'registry-password' } },
    },
  },
}

const page = `# Configuration

<!-- Written by script/write-docs.ts (npm run docs) from src/config/: change it there. -->

Berth reads its environment once, at the start, and refuses to start with every fault named at once. A variable that is
set to nothing counts as not set.

| variable | meaning | where it is not set |
|---|---|---|
${variables()}

## The file of schedulers

\`BERTH_SCHEDULERS\` names a JSON file. Each entry of \`schedulers\` is a place that runs jobs; its name is what a job says
in \`scheduler\`. Unknown fields are refused.

\`\`\`json
${JSON.stringify(EXAMPLE, null, 2)}
\`\`\`

### \`"kind": "local"\`

${fields(LocalSchedulerEntry)}

### \`"kind": "docker"\`

${fields(DockerSchedulerEntry)}
`

const PAGES = { 'configuration.md': page, 'compatibility.md': compatibilityPage() }

for (const [name, text] of Object.entries(PAGES)) {
  const target = fileURLToPath(new URL(`../docs/${name}`, import.meta.url))
  if (!process.argv.includes('--check')) writeFileSync(target, text)
  else if (readFileSync(target, 'utf8') !== text) {
    console.error(`docs/${name} is stale: npm run docs`)
    process.exitCode = 1
  }
}

function variables(): string {
  return Object.entries(Environment.shape)
    .map(([name, schema]) => {
      const { description, defaultWords } = z.globalRegistry.get(schema) as { description: string; defaultWords: string }
      return `| \`${name}\` | ${description} | ${defaultWords} |`
    })
    .join('\n')
}

interface Field {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Field>>
  readonly additionalProperties?: Field | false
  readonly items?: Field
}

function fields(schema: z.ZodType): string {
  const rows = rowsOf(z.toJSONSchema(schema) as Field, '').filter(([path]) => path !== 'kind')
  return ['| field | meaning |', '|---|---|', ...rows.map(([path, words]) => `| \`${path}\` | ${words} |`)].join('\n')
}

/** Every field with words of its own, in order, with `[]` for the items of a list and `HOST` for free keys. */
function rowsOf(field: Field, path: string): [path: string, words: string][] {
  const own: [string, string][] = field.description === undefined ? [] : [[path, field.description]]
  const named = Object.entries(field.properties ?? {}).flatMap(([name, child]) => rowsOf(child, path === '' ? name : `${path}.${name}`))
  const free = field.additionalProperties ? rowsOf(field.additionalProperties, `${path}.HOST`) : []
  return [...own, ...named, ...free, ...(field.items === undefined ? [] : rowsOf(field.items, `${path}[]`))]
}
