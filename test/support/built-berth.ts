import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HOME = fileURLToPath(new URL('../..', import.meta.url))
const CACHE = join(HOME, 'node_modules/.cache/berth')
const KEPT_MS = 24 * 3600_000

let built: Promise<string> | undefined

/** What a newer Berth may do to the tables of this one: a column more in each. */
const NEWER = `
DO $$ DECLARE "table" text; BEGIN
  FOR "table" IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN of_a_newer_one text NOT NULL DEFAULT ''none''', "table");
  END LOOP;
END $$;`

/** The same as a Berth that has one migration more. @param place a folder for it, which is not there yet */
export async function newerBerth(place: string): Promise<string> {
  const current = dirname(dirname(await builtBerth()))
  await cp(join(current, 'dist'), join(place, 'dist'), { recursive: true })
  await cp(join(HOME, 'prisma'), join(place, 'prisma'), { recursive: true })
  const migration = join(place, 'prisma/migrations/29991231235959_newer')
  await mkdir(migration)
  await writeFile(join(migration, 'migration.sql'), NEWER)
  for (const beside of ['package.json', 'node_modules']) await symlink(join(HOME, beside), join(place, beside))
  return join(place, 'dist/main.js')
}

/**
 * Path of a `main.js` made from src as it is now. Compiled ahead, since a test starts a hundred processes; in a place of its
 * own, since `dist` may be older than src, or be written at this moment.
 */
export function builtBerth(): Promise<string> {
  built ??= buildOnce()
  return built
}

async function buildOnce(): Promise<string> {
  const sources = await readSources()
  const hash = createHash('sha256')
  for (const { path, text } of sources) hash.update(`${path}\0${text}\0`)
  const place = join(CACHE, hash.digest('hex').slice(0, 16))
  if (!existsSync(place)) await build(sources, place)
  return join(place, 'dist/main.js')
}

interface SourceFile {
  /** Below src. */
  readonly path: string
  readonly text: string
}

async function readSources(): Promise<SourceFile[]> {
  const src = join(HOME, 'src')
  const paths = (await readdir(src, { recursive: true })).filter((path) => /\.(ts|sh)$/.test(path)).sort()
  return Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(src, path), 'utf8') })))
}

async function build(sources: readonly SourceFile[], place: string): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  await forgetOld()
  const draft = await mkdtemp(join(CACHE, 'draft-'))
  const { default: ts } = await import('typescript')
  const options = {
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2023,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    inlineSourceMap: true,
  }
  for (const { path, text } of sources) {
    const isScript = path.endsWith('.sh')
    const target = join(draft, 'dist', isScript ? path : path.replace(/\.ts$/, '.js'))
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, isScript ? text : ts.transpileModule(text, { compilerOptions: options, fileName: path }).outputText)
    if (isScript) await chmod(target, 0o755)
  }
  for (const beside of ['package.json', 'prisma']) await symlink(join(HOME, beside), join(draft, beside))
  // Another test process may have been faster.
  await rename(draft, place).catch(() => rm(draft, { recursive: true }))
}

async function forgetOld(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const { mtimeMs } = await stat(join(CACHE, name))
    if (Date.now() - mtimeMs > KEPT_MS) await rm(join(CACHE, name), { recursive: true, force: true })
  }
}
