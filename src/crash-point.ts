/**
 * Named places where a fault test may kill or park this process: around every commit and native call.
 * Inert unless `armCrashPoint` was called, which only a start with BERTH_CRASH_POINT does.
 */
let armed: { readonly name: string; readonly signal: NodeJS.Signals } | null = null

/** @param point `name` (SIGKILL) or `name:SIGSTOP`. */
export function armCrashPoint(point: string): void {
  const [name = '', signal = 'SIGKILL'] = point.split(':')
  armed = { name, signal: signal as NodeJS.Signals }
}

/** Ends or parks the process if exactly this point was armed; otherwise nothing. A point fires once. */
export function crashPoint(name: string): void {
  if (armed?.name !== name) return
  const { signal } = armed
  armed = null
  process.kill(process.pid, signal)
  if (signal === 'SIGKILL') for (;;);
}
