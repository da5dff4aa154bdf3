// Copies what the compiler leaves out (shell scripts) from src to dist, with mode.
import { chmodSync, copyFileSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const home = join(dirname(fileURLToPath(import.meta.url)), '..')

for (const path of readdirSync(join(home, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sh'))) {
  const [from, to] = [join(home, 'src', path), join(home, 'dist', path)]
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(from, to)
  chmodSync(to, statSync(from).mode)
}
