import { describe } from 'vitest'
import { createDockerUnderTest } from '../support/docker.ts'
import { requireDocker } from '../support/requirements.ts'
import { describeSchedulerContract } from './scheduler-contract.ts'

const daemon = requireDocker()

describe.skipIf(daemon.missing)('contract', () => {
  describeSchedulerContract({ name: 'docker', image: 'busybox', create: async () => createDockerUnderTest(daemon.host) })
})
