import type { BenchOfJobs } from './bench-of-jobs.ts'
import type { SchedulerUnderTest } from './scheduler-under-test.ts'

/** What a part of the contract works with, asked for inside of a test. */
export interface ContractContext {
  readonly tested: () => SchedulerUnderTest
  readonly jobs: () => BenchOfJobs
}
