/** How much one job may ask for. Bytes are of UTF-8; the kernel's own limit for one argument is 128 KiB. */
export const REQUEST_LIMITS = {
  nameLength: 63,
  roles: 20,
  /** Per role; each scheduler has its own limit for the whole job. */
  replicas: 1000,
  labels: 64,
  labelValueLength: 255,
  envVariables: 200,
  /** Names and values of one role together, with macros at their longest. */
  envBytes: 64 * 1024,
  /** All arguments of one role together, with macros at their longest. */
  commandBytes: 128 * 1024,
  imageLength: 512,
  pathBytes: 1024,
  /** Per role, of both forms together; the operator's own limit is lower (BERTH_MAX_MOUNTS). */
  mounts: 256,
  mountStringLength: 8192,
  timeoutSeconds: 365 * 24 * 3600,
  graceSeconds: 3600,
  retries: 100,
  backoffSeconds: 600,
  cpus: 1024,
  /** 64 TiB. */
  memoryMiB: 64 * 1024 * 1024,
  gpus: 64,
  pids: 4_194_304,
  webhooks: 20,
  jsonDepth: 32,
} as const
