import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { JobRequest } from '../../../src/domain/job-request.ts'

interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly default?: unknown
  readonly description?: string
  readonly additionalProperties?: unknown
}

const { $defs } = z.toJSONSchema(JobRequest, { io: 'input' }) as { $defs: Record<string, Schema> }

describe('the components of a job request', () => {
  test('are named, so that generated clients have good types', () => {
    expect(Object.keys($defs).filter((name) => !/Source|Binding|Credentials|HttpFile/.test(name)).sort()).toEqual([
      'BindMountBody',
      'DefinitionSubmission',
      'DeviceMountBody',
      'DriveMountBody',
      'JobBody',
      'JobRequest',
      'MountBody',
      'OutputsBody',
      'ResourcesBody',
      'RetriesBody',
      'RoleBody',
      'TmpfsMountBody',
      'VolumeMountBody',
    ])
  })

  test('refuse unknown fields and are all described', () => {
    const components = Object.entries($defs)
    const open = components.filter(([, schema]) => schema.properties !== undefined && schema.additionalProperties !== false)
    const undescribed = components.filter(([, { description }]) => description?.endsWith('.') !== true)
    expect([...open, ...undescribed]).toEqual([])
  })

  test('never send a default: it stands in words', () => {
    expect(JSON.stringify($defs)).not.toContain('"default":')
  })
})
