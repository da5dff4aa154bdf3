import { z } from 'zod'
import { REQUEST_LIMITS } from '../domain/request-limits.ts'
import { cidrsIn, isCidr } from './cidrs.ts'
import { keyRingOf } from './key-ring.ts'

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const URL_WORDS = 'must be a URL such as'

const url = (protocols: RegExp, example: string) =>
  z.string().refine((text) => protocols.test(text) && URL.canParse(text), { error: `${URL_WORDS} ${example}` })

/**
 * The environment variables that Berth reads. `defaultWords` says what holds where a variable is not set;
 * docs/configuration.md is written from here.
 */
export const Environment = z.object({
  BERTH_HOST: z.string().optional().meta({
    description: 'Address that the API listens on. Berth speaks plain HTTP: put a proxy with TLS before any other than loopback.',
    defaultWords: '`127.0.0.1`',
  }),
  BERTH_PORT: z
    .string()
    .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, { error: 'must be a port number from 0 (any free one) to 65535' })
    .optional()
    .meta({ description: 'Port that the API listens on; 0 takes any free one, which the log names.', defaultWords: '`8080`' }),
  BERTH_PUBLIC_URL: url(/^https?:/, 'https://berth.example.org')
    .optional()
    .meta({
      description: 'Where jobs reach the API, for mounts of mode `api`. From a container `localhost` is the container itself.',
      defaultWords: 'the address above, for `local` jobs alone',
    }),
  BERTH_DATA_DIR: z.string().optional().meta({
    description: 'Folder of all that Berth keeps on this machine: the embedded PostgreSQL, the API key, volumes and work of `local` jobs.',
    defaultWords: '`.berth` in the working directory',
  }),
  DATABASE_URL: url(/^postgres(ql)?:/, 'postgresql://user:password@host:5432/berth')
    .optional()
    .meta({
      description: 'PostgreSQL (15 or later) that holds the truth. Migrations are applied at the start.',
      defaultWords: 'an embedded PostgreSQL under the data folder',
    }),
  REDIS_URL: url(/^rediss?:/, 'redis://host:6379')
    .optional()
    .meta({
      description: 'Redis (7 or later, `maxmemory-policy noeviction`) for the queue. It may lose everything at any time.',
      defaultWords: 'the queue is kept in PostgreSQL',
    }),
  BERTH_SERVE: z.enum(['all', 'api', 'worker']).optional().meta({
    description: 'What this process does: `api`, `worker`, or `all` for both. Apart they need `DATABASE_URL`.',
    defaultWords: '`all`',
  }),
  BERTH_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{16,256}$/, { error: 'must be 16 to 256 printable characters without spaces, such as openssl rand -hex 32 gives' })
    .optional()
    .meta({
      description: 'The key that clients send as `Authorization: Bearer …`. Needed with `DATABASE_URL`, unless the process is a `worker`.',
      defaultWords: 'embedded: made at the first start and kept in `api-key` in the data folder, readable by the owner alone',
    }),
  BERTH_SCHEDULERS: z.string().optional().meta({
    description: 'Path of a JSON file that names the schedulers: see below.',
    defaultWords: '`local`, and `docker` if its socket answers',
  }),
  BERTH_STORE: z
    .string()
    .refine((text) => /^s3:\/\/[^/?]+(\/([^?]+\/)?)?(\?.*)?$/.test(text) && URL.canParse(text), {
      error: 'must be s3://bucket/ or s3://bucket/prefix/, with ?endpoint=…&region=… where they are needed',
    })
    .optional()
    .meta({
      description: 'Where managed drives are kept: `s3://bucket/prefix/`, with `?endpoint=` for a compatible server and `&region=`.',
      defaultWords: '`drives` in the data folder',
    }),
  BERTH_STORE_ACCESS_KEY_ID: z.string().optional().meta({
    description: 'Key of that bucket; with `BERTH_STORE_SECRET_ACCESS_KEY`.',
    defaultWords: "the process's own AWS credentials",
  }),
  BERTH_STORE_SECRET_ACCESS_KEY: z
    .string()
    .optional()
    .meta({ description: 'Secret of that key.', defaultWords: "the process's own AWS credentials" }),
  BERTH_SECRET_KEYS: z
    .string()
    .refine((text) => keyRingOf(text) !== null, {
      error: 'must be id:key pairs with commas between, each key 32 bytes in base64 (openssl rand -base64 32)',
    })
    .optional()
    .meta({
      description: 'Keys that seal secrets, `id:base64,…`: the first seals, all open. Every process must have the same.',
      defaultWords:
        'embedded: made at the first start and kept in `secret-key` in the data folder; with `DATABASE_URL`: none, and no secrets',
    }),
  BERTH_AMBIENT_DRIVES: z.string().optional().meta({
    description: "Names of drives, with commas between, that may use the worker's own cloud credentials; `*` for all.",
    defaultWords: 'none',
  }),
  BERTH_ALLOW_PRIVATE_URLS: z.enum(['true', 'false']).optional().meta({
    description: 'Whether the URLs and endpoints of drives may lead to addresses of private networks and of this machine.',
    defaultWords: '`false`',
  }),
  BERTH_WEBHOOK_ALLOW_CIDRS: z
    .string()
    .refine((text) => cidrsIn(text).every(isCidr), { error: 'must be addresses with prefixes, such as 10.1.0.0/16,fd00::/8' })
    .optional()
    .meta({
      description: 'Private addresses that webhooks may lead to besides the open internet, there also by http and at any port.',
      defaultWords: 'none',
    }),
  BERTH_KEEP_DAYS: z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,4})$/.test(text), { error: 'must be a number of days, or 0 for ever' })
    .optional()
    .meta({
      description:
        'How long jobs are kept after their end, with attempts, events, output and what webhooks were told of them; `0` for ' +
        'ever.',
      defaultWords: '`0`',
    }),
  BERTH_KEEP_JOBS: z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,8})$/.test(text), { error: 'must be a number of jobs, or 0 for no limit' })
    .optional()
    .meta({
      description:
        'Ended jobs that are kept of each project; those that ended first go first, and none within a day of its submission. ' +
        '`0` for no limit.',
      defaultWords: '`0`',
    }),
  BERTH_KEEP_LOG_DAYS: z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,4})$/.test(text), { error: 'must be a number of days, or 0 for as long as the job' })
    .optional()
    .meta({
      description: 'How long the output of jobs is kept after their end; `0` for as long as the job.',
      defaultWords: '`0`',
    }),
  BERTH_KEEP_LOG_GIB: z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,6})$/.test(text), { error: 'must be a number of GiB, or 0 for no limit' })
    .optional()
    .meta({
      description:
        'Output that is kept of all jobs of a project together, in GiB before compression; that of jobs that ended first goes ' +
        'first. `0` for no limit.',
      defaultWords: '`0`',
    }),
  BERTH_MAX_LOG_MIB: z
    .string()
    .refine((text) => /^(0|[1-9]\d{0,6})$/.test(text), { error: 'must be a number of MiB, or 0 for no limit' })
    .optional()
    .meta({
      description: 'Output of one stream of a replica that is kept, in MiB; what is longer is cut, and says so. `0` for all of it.',
      defaultWords: '`1024`',
    }),
  BERTH_MAX_MOUNTS: z
    .string()
    .refine((text) => /^[1-9]\d{0,2}$/.test(text) && Number(text) <= REQUEST_LIMITS.mounts, {
      error: `must be a number from 1 to ${REQUEST_LIMITS.mounts}`,
    })
    .optional()
    .meta({ description: 'Most mounts of one role.', defaultWords: '`32`' }),
  BERTH_LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .optional()
    .meta({
      description: `Least level that is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}. The log is JSON lines on stdout.`,
      defaultWords: '`info`',
    }),
  BERTH_CRASH_POINT: z
    .string()
    .regex(/^[a-z0-9._-]+(:SIG(KILL|STOP))?$/, { error: 'must be the name of a crash point, perhaps with :SIGKILL or :SIGSTOP after it' })
    .optional()
    .meta({ description: 'For fault tests: the named place in the code where this process kills itself.', defaultWords: 'none' }),
})

export type Environment = z.infer<typeof Environment>
export type LogLevel = (typeof LOG_LEVELS)[number]
