import type { AttemptHandle, LogChunk, LogOptions, ObservationBatch } from '../../src/domain/attempt.ts'
import type { CollectedFile, FlushContext, MountPlace, Scheduler, SubmitContext } from '../../src/schedulers/scheduler.ts'
import type { PortFaults } from './port-faults.ts'

/** A scheduler as one worker has it over a bad line. What is observed may be an earlier list once more. */
export function faultyScheduler<Native>(scheduler: Scheduler<Native>, faults: PortFaults): Scheduler<Native> {
  const noneStale = (): undefined => undefined
  return {
    kind: scheduler.kind,
    startsAtSubmit: scheduler.startsAtSubmit,
    capabilities: scheduler.capabilities,
    render: (spec) => scheduler.render(spec),
    submit: (native: Native, context: SubmitContext) => faults.call(() => scheduler.submit(native, context)),
    cancel: (handle: AttemptHandle, signal: AbortSignal) => faults.call(() => scheduler.cancel(handle, signal)),
    remove: (handle: AttemptHandle, signal: AbortSignal) => faults.call(() => scheduler.remove(handle, signal)),
    flush: (handle: AttemptHandle, context: FlushContext) => faults.call(() => scheduler.flush(handle, context)),
    health: (signal: AbortSignal) => faults.call(() => scheduler.health(signal)),
    observe: (signal: AbortSignal): AsyncIterable<ObservationBatch> =>
      faults.read(
        () => scheduler.observe(signal),
        (earlier) => earlier.at(-1),
      ),
    logs: (handle: AttemptHandle, options: LogOptions, signal: AbortSignal): AsyncIterable<LogChunk> =>
      faults.read(() => scheduler.logs(handle, options, signal), noneStale),
    collect: (handle: AttemptHandle, place: MountPlace, signal: AbortSignal): AsyncIterable<CollectedFile> =>
      faults.read(() => scheduler.collect(handle, place, signal), noneStale),
  }
}
