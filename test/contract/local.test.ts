import { describe } from 'vitest'
import { detectIsolation } from '../../src/schedulers/local/local-scheduler.ts'
import { createLocalUnderTest } from '../support/local.ts'
import { requireProgram } from '../support/requirements.ts'
import { describeSchedulerContract } from './scheduler-contract.ts'

const bubblewrap = requireProgram('bwrap')

describe.skipIf(bubblewrap.missing || await detectIsolation() === 'links')('contract', () => {
  describeSchedulerContract({ name: 'local', image: null, create: () => createLocalUnderTest('bubblewrap') })
})
