import { setTimeout as sleep } from 'node:timers/promises'

/** Asks until the answer is as wanted, and gives it. For tests that run at the same time, where `expect.poll` cannot be used. */
export async function eventually<T>(ask: () => Promise<T> | T, wanted: (answer: T) => boolean, seconds = 20): Promise<T> {
  for (const deadline = Date.now() + seconds * 1_000; ; await sleep(50)) {
    const answer = await ask()
    if (wanted(answer)) return answer
    if (Date.now() > deadline) throw new Error(`not as wanted after ${seconds} s: ${JSON.stringify(answer)}`)
  }
}
