import { describe, expect, test } from 'vitest'
import { volumeAt } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'

export function mountsContract({ tested, jobs }: ContractContext): void {
  describe('mounts', () => {
    test('let one attempt read from a volume what another wrote', async () => {
      const volume = tested().newVolume()
      await jobs().complete(jobs().shell('echo treasure > /data/x', { mounts: [volumeAt(volume, '/data')] }))
      const reader = jobs().shell('cat /deep/er/x', { mounts: [volumeAt(volume, '/deep/er', true)] })
      expect(await jobs().complete(reader)).toMatchObject([{ phase: 'succeeded' }])
      expect((await jobs().output(reader)).toString()).toBe('treasure\n')
    })

    test('give the same volume to all replicas of an attempt', async () => {
      const mounts = [volumeAt(tested().newVolume(), '/data')]
      const script = 'touch /data/$BERTH_REPLICA; for i in $(seq 100); do [ -e /data/0 -a -e /data/1 ] && exit 0; sleep 0.1; done; exit 1'
      expect(await jobs().complete(jobs().shell(script, { mounts, replicas: 2 }))).toMatchObject([{ exitCode: 0 }, { exitCode: 0 }])
    })

    test('that are read-only, refuse every write', async () => {
      const volume = tested().newVolume()
      await jobs().complete(jobs().shell('echo a > /data/x', { mounts: [volumeAt(volume, '/data')] }))
      const script = 'echo b > /data/x; echo c > /data/y; rm -f /data/x; cat /data/x; ls /data | wc -l'
      const spec = jobs().shell(script, { mounts: [volumeAt(volume, '/data', true)] })
      await jobs().complete(spec)
      expect((await jobs().output(spec)).toString().replaceAll(' ', '')).toBe('a\n1\n')
    })

    test('of type tmpfs, are empty, writable and of their own for each attempt', async (context) => {
      if (!tested().scheduler.capabilities.mountVia.includes('tmpfs')) context.skip()
      const tmpfs = { via: 'tmpfs', path: '/fast', sizeMiB: 4, readOnly: false } as const
      const script = 'ls /fast | wc -l; echo x > /fast/x && grep " /fast " /proc/mounts | cut -d" " -f3'
      for (let round = 0; round < 2; round++) {
        const spec = jobs().shell(script, { mounts: [tmpfs] })
        await jobs().complete(spec)
        expect((await jobs().output(spec)).toString().trim()).toBe('0\ntmpfs')
      }
    })
  })
}
