/** Node's own HTTP server in front of files: what putting and getting objects costs at the least. PORT and DIR say where. */
import { createReadStream, createWriteStream } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const highWaterMark = 1024 * 1024
createServer((request, response) => {
  const path = join(process.env['DIR'] ?? '.', request.url?.slice(1) || 'none')
  if (request.method === 'PUT') void pipeline(request, createWriteStream(path, { flush: true, highWaterMark })).then(() => response.end())
  else if (request.url === '/') response.end()
  else void pipeline(createReadStream(path, { highWaterMark }), response)
}).listen(Number(process.env['PORT']))
