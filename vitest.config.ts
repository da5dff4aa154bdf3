import { defineConfig } from 'vitest/config'

// Two kinds of suite: the quick ones share the cores, the slow ones measure time and count processes and so come
// afterwards, one file at a time.
export default defineConfig({
  test: {
    globalSetup: 'test/support/services.ts',
    pool: 'forks',
    maxWorkers: 2,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/{unit,golden,contract,integration}/**/*.test.ts'],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: ['test/{faults,e2e}/**/*.test.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
          // Tests of a file that run at once mostly wait for a claim to run out.
          maxConcurrency: 10,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
