import autocannon from 'autocannon'
import { headers, startBerth, startServer, type Server } from './berth.ts'
import { inPairs, report } from './figures.ts'

const JOB = { scheduler: 'local', roles: [{ command: ['true'] }] }

/** Durable submits a second, against one prepared insert behind the same web framework. No worker runs meanwhile. */
export async function benchSubmit(databaseUrl: string, dataDir: string, seconds: number): Promise<void> {
  const bare = await startServer(['--import', 'tsx', 'bench/bare-submit.ts'], { DATABASE_URL: databaseUrl }, '/readyz')
  const berth = await startBerth({ DATABASE_URL: databaseUrl, BERTH_SERVE: 'api', BERTH_DATA_DIR: dataDir })
  try {
    for (const connections of [16, 64]) {
      const rate = (server: Server) => async () => (await fire(server, connections, 4)).requests.average
      await rate(berth)()
      const pairs = await inPairs(4, rate(berth), rate(bare))
      report(`submit, ${connections} connections`, pairs, 'requests/s', '>= 0.6')
    }
    const long = await fire(berth, 16, seconds)
    const { average } = long.requests
    console.log(
      `submit for ${seconds} s, 16 connections: ${average.toFixed(0)} accepted/s, ` +
        `p99 ${long.latency.p99} ms, ${long.non2xx + long.errors} refused`,
    )
  } finally {
    await Promise.all([bare.stop(), berth.stop()])
  }
}

async function fire(server: Server, connections: number, duration: number): Promise<autocannon.Result> {
  return autocannon({ url: `${server.url}/v1/jobs`, method: 'POST', headers, body: JSON.stringify(JOB), connections, duration })
}
