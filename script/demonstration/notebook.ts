import type { ApiClient } from './api-client.ts'
import { DemoFailure } from './demo-failure.ts'
import type { JobBody, Place } from './jobs.ts'
import { bold, dim, green, say } from './terminal.ts'
import { watchJob } from './watch-job.ts'

const DATA_SET = Array.from({ length: 200 }, (_, x) => `${x / 200},${(3 * x) / 200 + 1}`).join('\n')

/**
 * What a notebook does: puts a data set on a drive, lets a job on each scheduler learn from it, and fetches the models.
 * @throws {DemoFailure} when a model does not come back
 */
export async function showDrives(api: ApiClient, places: readonly Place[]): Promise<void> {
  say(`\n${bold('A notebook puts a data set on a drive')} ${dim('(PUT /v1/drives/demo-datasets/objects/line.csv)')}`)
  for (const name of ['demo-datasets', 'demo-models']) await api.keepDrive(name)
  await api.putObject('demo-datasets', 'line.csv', `${DATA_SET}\n`)
  for (const place of places) {
    await watchJob(api, learnJob(place))
    const model = await api.getObject('demo-models', `${place.scheduler}/model.txt`)
    if (!/^y = [\d.]+ x \+ [\d.]+\n$/.test(model)) throw new DemoFailure(`the model is "${model}"`, 'Report this: it is a fault of Berth.')
    say(`  ${green('model.txt')} ${dim('downloaded:')} ${model.trimEnd()}`)
  }
}

/** The same mounts on every scheduler; by links only if there is nothing better, and then not read-only. */
function learnJob({ scheduler, mountPaths }: Place): JobBody {
  const exact = mountPaths === 'exact'
  const root = exact ? '' : '/mnt/berth'
  const mounts = [
    { type: 'drive', drive: 'demo-datasets', path: `${root}/data`, ...(!exact && { access: 'rw' }) },
    { type: 'drive', drive: 'demo-models', path: `${root}/models`, mode: 'copy_out', subPath: scheduler },
  ]
  const learn = `awk -F, '{ x += $1; y += $2; xx += $1 * $1; xy += $1 * $2 }
  END { a = (NR * xy - x * y) / (NR * xx - x * x); printf "y = %.2f x + %.2f\\n", a, (y - a * x) / NR }' \\
  "$1/data/line.csv" > "$1/models/model.txt"`
  const command = ['sh', '-ec', exact ? `set -- ''; ${learn}` : `set -- "$BERTH_MOUNT_ROOT"; ${learn}`]
  const role = { name: 'learner', command, mounts }
  return { name: 'learn', scheduler, timeoutSeconds: 60, roles: [scheduler === 'docker' ? { image: 'busybox', ...role } : role] }
}
