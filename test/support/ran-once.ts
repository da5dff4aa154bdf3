import { expect } from 'vitest'
import type { Installation } from './installation.ts'

/**
 * Waits until each job has ended, at its first attempt and well, with sound events; as the job itself has written down it was
 * started once, and this is all that it has said.
 */
export async function expectRanOnce(berth: Installation, ids: readonly string[], output: string): Promise<void> {
  for (const id of ids) {
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded', attempts: [{ number: 1 }] })
    await berth.client.events(id)
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    expect((await berth.client.log(id)).toString()).toBe(output)
  }
}
