import type { Socket } from 'node:net'
import { newId } from '../domain/id.ts'
import { Problem } from '../domain/problem.ts'
import { PROBLEM_MEDIA_TYPE, toProblemBody } from './problem-body.ts'

const DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers and the address may have 16 KiB together at most.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not come in whole within 30 seconds.',
}

/** Answers what is not HTTP enough to become a request, and closes the connection. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const problem = new Problem('malformed_request', DETAILS[error.code ?? ''] ?? 'This is not an HTTP request.')
  const requestId = newId('req')
  const body = JSON.stringify(toProblemBody(problem, { requestId, instance: '' }))
  const head = [
    'HTTP/1.1 400 Bad Request',
    `content-type: ${PROBLEM_MEDIA_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
