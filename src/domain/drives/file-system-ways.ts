import type { DriveSource, EfsSource } from './drive.ts'
import { nfsOptions } from './mount-options.ts'
import { below, isReadOnly, liveWay, wholeOnly, type Way, type WayFacts } from './way.ts'

type Of<K extends DriveSource['kind']> = WayFacts<Extract<DriveSource, { kind: K }>>

/** Live ways of what is a file system already, the best first. */
export const FILE_SYSTEM_WAYS = {
  nfs: (facts: Of<'nfs'>): Way[] => [...hostMounts(facts, `nfs://${facts.source.server}${facts.source.export}`), nfs(facts)],
  efs,
  s3files,
  fsx_lustre: lustre,
  volume,
  pvc: (facts: Of<'pvc'>): Way[] => [claim(facts, facts.source.claimName)],
  docker_volume: (facts: Of<'docker_volume'>): Way[] => [namedVolume(facts, facts.source.volume, 'docker')],
  host_path: (facts: Of<'host_path'>): Way[] => [
    liveWay({ via: 'host_path', hostPath: below(facts.source.hostPath, facts.use.subPath), ...placeOf(facts) }),
  ],
  scratch: (facts: Of<'scratch'>): Way[] => [scratch(facts)],
} as const

const placeOf = ({ use }: WayFacts) => ({ path: use.path, readOnly: isReadOnly(use) })

/** What the operator has mounted on every machine of the scheduler. */
export function hostMounts(facts: WayFacts, source: string): Way[] {
  const wanted = source.replace(/\/$/, '')
  return facts.capabilities.hostMounts.flatMap((mount) => {
    const root = mount.source.replace(/\/$/, '')
    if (wanted !== root && !wanted.startsWith(`${root}/`)) return []
    const hostPath = below(below(mount.hostPath, wanted.slice(root.length + 1)), facts.use.subPath)
    const flaws =
      mount.readOnly && !isReadOnly(facts.use)
        ? [{ code: 'host_mount_read_only', detail: `${root} is mounted read-only on these machines` }]
        : []
    return [liveWay({ via: 'host_path', hostPath, ...placeOf(facts) }, { flaws })]
  })
}

const nfs = (facts: Of<'nfs'>): Way =>
  liveWay({
    via: 'nfs',
    server: facts.source.server,
    export: below(facts.source.export, facts.use.subPath),
    options: nfsOptions(facts.use.options),
    ...placeOf(facts),
  })

function efs(facts: Of<'efs'>): Way[] {
  const { source, kind } = facts
  const mounted = hostMounts(facts, `efs://${source.fileSystemId}`)
  if (kind === 'aws_batch') return [efsVolume(facts, source), ...mounted]
  const handle = source.accessPointId === null ? source.fileSystemId : `${source.fileSystemId}::${source.accessPointId}`
  const csi = liveWay(
    {
      via: 'csi',
      driver: 'efs.csi.aws.com',
      volumeHandle: source.accessPointId === null ? `${handle}:${below(source.rootDirectory, facts.use.subPath)}` : handle,
      attributes: {},
      mountOptions: ['tls'],
      ...placeOf(facts),
    },
    { flaws: source.accessPointId === null ? [] : wholeOnly(facts.use, 'an access point') },
  )
  if (kind === 'kubernetes') return [csi, ...mounted]
  return [...mounted, efsAsNfs(facts)]
}

/** What AWS recommends (EFS user guide, NFS mount settings). */
const EFS_OPTIONS = { nfsvers: '4.1', rsize: '1048576', wsize: '1048576', recovery: 'hard', timeo: '600', retrans: '2' }

/** The kernel's own NFS client knows neither the TLS nor the IAM of EFS. */
const efsAsNfs = (facts: Of<'efs'>): Way =>
  liveWay(
    {
      via: 'nfs',
      server: `${facts.source.fileSystemId}.efs.${facts.source.region ?? 'unknown'}.amazonaws.com`,
      export: below(facts.source.rootDirectory, facts.use.subPath),
      options: [...nfsOptions({ ...EFS_OPTIONS, ...facts.use.options }), 'noresvport'],
      ...placeOf(facts),
    },
    {
      flaws: [
        ...(facts.source.region === null
          ? [{ code: 'region_missing', detail: 'the drive needs its region to be mounted as plain NFS' }]
          : []),
        ...(facts.source.accessPointId === null ? [] : [{ code: 'access_point_unsupported', detail: 'plain NFS has no access points' }]),
      ],
      warnings: ['mounted as plain NFS 4.1: neither encrypted on the way nor authorised by IAM'],
    },
  )

type BatchFileSystem = Pick<EfsSource, 'fileSystemId' | 'accessPointId' | 'rootDirectory'>

/** With an access point the root directory must be left out (ECS, EFSVolumeConfiguration). */
const efsVolume = (facts: WayFacts, { fileSystemId, accessPointId, rootDirectory }: BatchFileSystem): Way =>
  liveWay(
    {
      via: 'efs',
      fileSystemId,
      accessPointId,
      rootDirectory: accessPointId === null ? below(rootDirectory, facts.use.subPath) : '/',
      ...placeOf(facts),
    },
    { flaws: accessPointId === null ? [] : wholeOnly(facts.use, 'an access point') },
  )

function s3files(facts: Of<'s3files'>): Way[] {
  const { source, use, kind } = facts
  const id = source.fileSystemArn.split('/').at(-1) ?? ''
  const mounted = hostMounts(facts, `s3files://${id}`)
  const warnings = isReadOnly(use)
    ? []
    : ['what is written reaches the bucket about a minute later, and a change in the bucket wins over it']
  if (kind === 'kubernetes') {
    const volumeHandle = `s3files:${id}:${below(source.rootDirectory, use.subPath)}`
    return [
      liveWay(
        { via: 'csi', driver: 'efs.csi.aws.com', volumeHandle, attributes: {}, mountOptions: ['tls'], ...placeOf(facts) },
        { warnings },
      ),
      ...mounted,
    ]
  }
  const volume = liveWay(
    {
      via: 's3files',
      fileSystemArn: source.fileSystemArn,
      accessPointArn: source.accessPointArn,
      rootDirectory: below(source.rootDirectory, use.subPath),
      ...placeOf(facts),
    },
    { warnings },
  )
  return [volume, ...mounted]
}

function lustre(facts: Of<'fsx_lustre'>): Way[] {
  const { source, use, kind } = facts
  const mounted = hostMounts(facts, `fsx_lustre://${source.fileSystemId}`)
  const csi = liveWay(
    {
      via: 'csi',
      driver: 'fsx.csi.aws.com',
      volumeHandle: source.fileSystemId,
      attributes: { dnsname: source.dnsName, mountname: source.mountName },
      mountOptions: ['flock'],
      ...placeOf(facts),
    },
    { flaws: wholeOnly(use, 'a Lustre file system') },
  )
  if (kind === 'kubernetes') return [csi, ...mounted]
  if (mounted.length > 0) return mounted
  const detail = 'a Lustre file system must be mounted on the machines by their operator (hostMounts): a container cannot mount it'
  return [liveWay({ via: 'host_path', hostPath: '', ...placeOf(facts) }, { flaws: [{ code: 'host_mount_missing', detail }] })]
}

function volume(facts: Of<'volume'>): Way[] {
  const { source, kind } = facts
  switch (kind) {
    case 'local':
    case 'docker':
      return [namedVolume(facts, source.bindings.docker?.volume ?? source.volume, null)]
    case 'kubernetes':
      return [claim(facts, source.bindings.kubernetes?.claimName ?? source.volume)]
    case 'aws_batch': {
      const binding = source.bindings.aws_batch
      if (binding !== null) return [efsVolume(facts, binding)]
      const detail = `the volume "${source.volume}" needs a binding to a file system on AWS Batch: bindings.aws_batch.fileSystemId`
      const unbound = { fileSystemId: '', accessPointId: null, rootDirectory: '/' }
      return [{ ...efsVolume(facts, unbound), flaws: [{ code: 'binding_missing', detail }] }]
    }
  }
}

/** @param only the one kind of scheduler that has it; null for every one that has named volumes */
function namedVolume(facts: WayFacts, name: string, only: 'docker' | null): Way {
  const elsewhere = only !== null && facts.kind !== only
  return liveWay(
    { via: 'named_volume', volume: name, ...placeOf(facts) },
    {
      flaws: [
        ...(elsewhere ? [{ code: 'wrong_scheduler_kind', detail: 'a volume of Docker exists on Docker alone' }] : []),
        ...wholeOnly(facts.use, 'a named volume'),
      ],
    },
  )
}

const claim = (facts: WayFacts, claimName: string): Way =>
  liveWay({ via: 'claim', claimName, subPath: facts.use.subPath, ...placeOf(facts) })

function scratch({ source, use }: Of<'scratch'>): Way {
  const flaws = wholeOnly(use, 'scratch space')
  if (source.medium === 'memory') return liveWay({ via: 'tmpfs', path: use.path, sizeMiB: source.sizeMiB, readOnly: false }, { flaws })
  return liveWay({ via: 'scratch', path: use.path, sizeMiB: source.sizeMiB }, { flaws })
}
