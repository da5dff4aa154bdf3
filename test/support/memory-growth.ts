import type { BerthProcess } from './berth-process.ts'

/** How many bytes more than at first the process held at the most, while `act` was under way. */
export async function memoryGrowth(running: BerthProcess, act: () => Promise<void>): Promise<number> {
  const before = running.rssBytes()
  let most = before
  const watch = setInterval(() => (most = Math.max(most, running.alive() ? running.rssBytes() : 0)), 50)
  try {
    await act()
  } finally {
    clearInterval(watch)
  }
  return most - before
}
