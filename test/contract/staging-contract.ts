import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { AttemptSpec } from '../../src/domain/attempt.ts'
import type { StagedPlan } from '../../src/domain/mount-plan.ts'
import type { CollectedFile } from '../../src/schedulers/scheduler.ts'
import { eventually } from '../support/eventually.ts'
import { StagedFiles } from '../support/staging.ts'
import { handleOf, patience } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'

const FILES = { 'a.txt': 'one\n', 'deep/er/b c.txt': 'two\n', empty: '', 'ü/x': 'three\n' }

const staged = (more: Partial<StagedPlan> = {}): StagedPlan => ({
  via: 'staged',
  path: '/in',
  readOnly: true,
  direction: 'in',
  cache: false,
  ...more,
})

export function stagingContract({ tested, jobs }: ContractContext): void {
  const submit = async (spec: AttemptSpec, files: StagedFiles): Promise<void> => {
    const { scheduler } = tested()
    await scheduler.submit(scheduler.render(spec), { ...patience(), staging: files })
  }
  const outputOf = async (spec: AttemptSpec): Promise<string> => {
    await jobs().ended(spec)
    return (await jobs().output(spec)).toString()
  }
  const collected = async (spec: AttemptSpec, path: string): Promise<Record<string, string>> => {
    const files: Record<string, string> = {}
    for await (const file of tested().scheduler.collect(handleOf(spec), { role: 'main', index: 0, path }, new AbortController().signal)) {
      files[file.path] = file.kind === 'file' ? (await buffer(file.body)).toString() : await notAFile(file)
    }
    return files
  }
  const notAFile = async (file: Exclude<CollectedFile, { kind: 'file' }>): Promise<string> => {
    if (file.kind === 'skipped') return `(${file.what})`
    const target = await file.follow()
    return target === null ? '(symlink)' : `-> ${(await buffer(target.body)).toString()}`
  }

  describe('staging', () => {
    test.each([true, false])('shows a job exactly the files that were staged (from the cache: %s)', async (cache) => {
      const spec = jobs().shell('cd /in; find . -type f | sort; cat a.txt "deep/er/b c.txt" empty ü/x', { mounts: [staged({ cache })] })
      await submit(spec, new StagedFiles(FILES))
      expect(await outputOf(spec)).toBe('./a.txt\n./deep/er/b c.txt\n./empty\n./ü/x\none\ntwo\nthree\n')
    })

    test.each([true, false])('keeps what is read-only from being written (from the cache: %s)', async (cache) => {
      const script = 'touch /in/new 2>&1 | grep -o "Read-only file system"; echo x 2>/dev/null > /in/a.txt; cat /in/a.txt'
      const spec = jobs().shell(script, { mounts: [staged({ cache })] })
      await submit(spec, new StagedFiles(FILES))
      expect(await outputOf(spec)).toBe('Read-only file system\none\n')
    })

    test('lets a job change its own copy', async () => {
      const spec = jobs().shell('echo more >> /in/a.txt; rm /in/empty; cat /in/a.txt', { mounts: [staged({ readOnly: false })] })
      await submit(spec, new StagedFiles(FILES))
      expect(await outputOf(spec)).toBe('one\nmore\n')
    })

    test('brings a large file and many small ones whole', async () => {
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`many/${index}`, `${index}\n`]))
      const large = randomBytes(20 * 1024 * 1024)
      const spec = jobs().shell('ls /in/many | wc -l; wc -c < /in/large; cat /in/many/499', { mounts: [staged()] })
      await submit(spec, new StagedFiles({ ...many, large }))
      expect((await outputOf(spec)).replaceAll(' ', '')).toBe(`500\n${20 * 1024 * 1024}\n499\n`)
    })

    test('reads nothing again for the second job that wants the same', async () => {
      const content = { [`x-${randomBytes(8).toString('hex')}`]: 'same' }
      const [first, second] = [new StagedFiles(content), new StagedFiles(content)]
      for (const files of [first, second]) {
        const spec = jobs().shell('cat /in/*', { mounts: [staged({ cache: true })] })
        await submit(spec, files)
        expect(await outputOf(spec)).toBe('same')
      }
      expect([[...first.opened.values()], [...second.opened.values()]]).toEqual([[1], []])
    })

    test('gives two attempts at once the same copy, read once', async () => {
      const content = { [`y-${randomBytes(8).toString('hex')}`]: 'together' }
      const files = new StagedFiles(content)
      const specs = [0, 1].map(() => jobs().shell('cat /in/*', { mounts: [staged({ cache: true })] }))
      await Promise.all(specs.map((spec) => submit(spec, files)))
      for (const spec of specs) expect(await outputOf(spec)).toBe('together')
    })

    test('gives back what a job wrote, while it runs and after its end, and follows no link of it', async () => {
      const script = 'cd /out; mkdir -p d/e; echo made > d/e/f; : > empty; ln -s /etc/passwd link; sleep 6; echo later > late'
      const spec = jobs().shell(script, { mounts: [staged({ path: '/out', readOnly: false, direction: 'out' })] })
      await submit(spec, new StagedFiles({}))
      await jobs().running(spec)
      const early = await eventually(
        () => collected(spec, '/out'),
        (files) => 'link' in files,
      )
      expect(early).toEqual({ 'd/e/f': 'made\n', empty: '', link: '(symlink)' })
      await jobs().ended(spec)
      expect(await collected(spec, '/out')).toEqual({ 'd/e/f': 'made\n', empty: '', link: '(symlink)', late: 'later\n' })
    })

    test('follows links to files of the mount, if asked, and gives a file of two names twice', async () => {
      const links = {
        near: 'blobs/1',
        absolute: '/out/blobs/1',
        'blobs/up': '../blobs/1',
        self: 'self',
        chain: 'near',
        directory: 'blobs',
        gone: 'nothing',
        outside: '../in/secret',
        deep: '../../../../../../etc/passwd',
        passwd: '/etc/passwd',
      }
      const script = Object.entries(links).map(([link, target]) => `ln -s ${target} ${link}`)
      const spec = jobs().shell(`cd /out; mkdir blobs; echo one > blobs/1; ln blobs/1 blobs/2; mkfifo fifo; ${script.join('; ')}`, {
        mounts: [staged({ path: '/out', readOnly: false, direction: 'out' })],
      })
      await submit(spec, new StagedFiles({}))
      await jobs().ended(spec)
      const { chain, ...others } = await collected(spec, '/out')
      // A chain stays within the mount on each scheduler; whether it is followed to its end is left to it.
      expect(['(symlink)', '-> one\n']).toContain(chain)
      expect(others).toEqual({
        'blobs/1': 'one\n',
        'blobs/2': 'one\n',
        near: '-> one\n',
        absolute: '-> one\n',
        'blobs/up': '-> one\n',
        self: '(symlink)',
        directory: '(symlink)',
        gone: '(symlink)',
        outside: '(symlink)',
        deep: '(symlink)',
        passwd: '(symlink)',
        fifo: '(fifo)',
      })
    })

    test('in both directions gives back the old and the new', async () => {
      const spec = jobs().shell('echo new > /io/b', { mounts: [staged({ path: '/io', readOnly: false, direction: 'in_out' })] })
      await submit(spec, new StagedFiles({ a: 'old\n' }))
      await jobs().ended(spec)
      expect(await collected(spec, '/io')).toEqual({ a: 'old\n', b: 'new\n' })
    })

    test('that was done is not done again by a later claim, and what was started stays', async () => {
      const spec = jobs().shell('cat /in/a.txt; sleep 1', { mounts: [staged()] })
      const files = new StagedFiles(FILES)
      await submit(spec, files)
      await submit({ ...spec, epoch: 2 }, files)
      expect(await outputOf(spec)).toBe('one\n')
    })

    test('leaves nothing of an attempt that is removed', async () => {
      const before = await tested().leftovers()
      const spec = jobs().shell('true', { mounts: [staged(), { via: 'scratch', path: '/scratch', sizeMiB: null }] })
      await submit(spec, new StagedFiles(FILES))
      await jobs().ended(spec)
      await tested().scheduler.remove(handleOf(spec), new AbortController().signal)
      expect(await tested().leftovers()).toEqual(before)
      await expect(collected(spec, '/in')).rejects.toMatchObject({ kind: 'not_found' })
    })

    test('leaves scratch space empty and writable', async () => {
      const spec = jobs().shell('ls /scratch | wc -l; echo x > /scratch/x && cat /scratch/x', {
        mounts: [{ via: 'scratch', path: '/scratch', sizeMiB: null }],
      })
      await submit(spec, new StagedFiles({}))
      expect((await outputOf(spec)).replaceAll(' ', '')).toBe('0\nx\n')
    })

    test('that fails is told, and starts nothing', async () => {
      const spec = jobs().shell('echo started', { mounts: [staged()] })
      const failing = new StagedFiles(FILES)
      failing.open = () => Promise.reject(new Error('the store is away'))
      await expect(submit(spec, failing)).rejects.toThrow('the store is away')
      const replicas = await tested().scheduler.observe(AbortSignal.timeout(5_000))[Symbol.asyncIterator]().next()
      const seen = (replicas.value as { attempts: { attemptId: string; replicas: { startedAt: unknown }[] }[] }).attempts
      expect(
        seen
          .filter(({ attemptId }) => attemptId === spec.attemptId)
          .flatMap((attempt) => attempt.replicas)
          .every(({ startedAt }) => startedAt === null),
      ).toBe(true)
    })
  })
}
