export interface Place {
  readonly scheduler: string
  /** Without bubblewrap a local job finds its mounts by links, below $BERTH_MOUNT_ROOT, and cannot have them read-only. */
  readonly mountPaths: 'exact' | 'linked'
}

export interface JobBody {
  readonly name: string
  readonly scheduler: string
  readonly timeoutSeconds: number
  readonly roles: readonly object[]
}

const REPLICAS = 2
const EPOCHS = 6
const ROWS = 400

/** Writes a data set of y = 3x + 1 and a little noise, a shard for each replica that will train, into the volume foo2. */
export function generateJob(place: Place): JobBody {
  const { mount, folder } = dataSet(place, '')
  const shards = `for shard in $(seq 0 ${REPLICAS - 1}); do
  awk -v state=$((shard + 4242)) '
    function random() { state = state * 16807 % 2147483647; return state / 2147483647 }
    BEGIN { for (i = 0; i < ${ROWS}; i++) { x = random(); print x "," 3 * x + 1 + random() / 10 } }' > ${folder}/shard-$shard.csv
  echo "shard-$shard.csv: $(wc -l < ${folder}/shard-$shard.csv) rows"
done`
  return job(place, 'generate', { name: 'generator', command: ['sh', '-ec', shards], mountStrings: [mount] })
}

/** Two replicas, each of which learns from its own shard; the mount is read-only, which the job tries. */
export function trainJob(place: Place): JobBody {
  const { mount, folder } = dataSet(place, ',readonly')
  const train = `if [ "$1" = exact ] && touch ${folder}/mine 2>/dev/null; then echo 'the data set can be written!'; exit 1; fi
awk -F, -v epochs=${EPOCHS} '
  { x[NR] = $1; y[NR] = $2 }
  END {
    for (e = 1; e <= epochs; e++) {
      loss = 0
      for (i = 1; i <= NR; i++) { d = a * x[i] + b - y[i]; loss += d * d / NR; a -= 0.05 * d * x[i]; b -= 0.05 * d }
      if (e == 1) first = loss
      bar = ""; for (j = 0; j < 30 * loss / first; j++) bar = bar "#"
      printf "epoch %d  loss %.4f  %s\\n", e, loss, bar; fflush(); system("sleep 0.3")
    }
    printf "learned y = %.2f x + %.2f\\n", a, b
  }' ${folder}/shard-$BERTH_REPLICA.csv`
  const command = ['sh', '-ec', train, 'train', place.mountPaths]
  return job(place, 'train', { name: 'trainer', command, replicas: REPLICAS, mountStrings: [mount] })
}

function job({ scheduler }: Place, name: string, role: object): JobBody {
  return { name, scheduler, timeoutSeconds: 60, roles: [scheduler === 'docker' ? { image: 'busybox', ...role } : role] }
}

function dataSet({ mountPaths }: Place, readOnly: string): { mount: string; folder: string } {
  return mountPaths === 'exact'
    ? { mount: `type=volume,src=foo2,dst=/data${readOnly}`, folder: '/data' }
    : { mount: 'type=volume,src=foo2,dst=/mnt/berth/data', folder: '"$BERTH_MOUNT_ROOT"/data' }
}
