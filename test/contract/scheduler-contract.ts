import { afterAll, beforeAll, describe } from 'vitest'
import { BenchOfJobs } from './bench-of-jobs.ts'
import { cancelAndRemoveContract } from './cancel-and-remove-contract.ts'
import type { ContractContext } from './contract-context.ts'
import { logsContract } from './logs-contract.ts'
import { mountsContract } from './mounts-contract.ts'
import { observeContract } from './observe-contract.ts'
import type { SchedulerKindUnderTest, SchedulerUnderTest } from './scheduler-under-test.ts'
import { stagingContract } from './staging-contract.ts'
import { submitContract } from './submit-contract.ts'

/** The promises of `Scheduler`, held against one kind: the same sentences for every kind. */
export function describeSchedulerContract(kind: SchedulerKindUnderTest): void {
  describe(`the ${kind.name} scheduler`, { timeout: 60_000 }, () => {
    let tested: SchedulerUnderTest | undefined
    const context: ContractContext = {
      tested: () => {
        if (tested === undefined) throw new Error('asked for outside of a test')
        return tested
      },
      jobs: () => new BenchOfJobs(context.tested(), kind.image),
    }
    beforeAll(async () => {
      tested = await kind.create()
    }, 60_000)
    afterAll(() => tested?.dispose(), 60_000)
    submitContract(context)
    observeContract(context)
    logsContract(context)
    mountsContract(context)
    stagingContract(context)
    cancelAndRemoveContract(context)
  })
}
