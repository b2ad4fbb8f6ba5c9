import { finished, type Readable } from 'node:stream'
import { isUuid } from '@dendro/api'
import { failureBody } from '../../../http/failure-body.ts'
import { jsonReply } from '../../../http/protocol-reads.ts'
import type { RawCall, RawHandler } from '../../../http/raw-handler.ts'
import { LOOKUP_BYTES_MAX } from '../../../ingest-rules/lookup-table.ts'
import { badField, Failure } from '../../../kernel/errors.ts'
import { toJson } from '../../../kernel/exact-json.ts'
import type { World } from '../../../world.ts'
import { findLookupTable, replaceRows, type TableUses } from './lookup-tables.ts'

/** Uploads that a process reads at once, one for each organization: each holds its file in memory. */
const UPLOADS_MAX = 4
const UPLOAD_MS_MAX = 300_000
const CSV = 'text/csv'

/** Replaces the rows of a table by the body of a request. */
export function rowsUpload(world: World, usesOf: (orgId: string) => TableUses): RawHandler {
  const uploading = new Set<string>()
  return {
    action: 'lookupTables.replaceRows',
    permission: 'ingest_rules_write',
    countsAs: 'reading',
    handle: async (call) => {
      const { actor, head } = call
      const id = (/\/lookup-tables\/([^/]+)\/rows$/.exec(head.path)?.[1] ?? '').toLowerCase()
      if (!isUuid(id)) throw badField('tableId', 'must be a UUID')
      const table = await findLookupTable(world, actor, id)
      if (uploading.size >= UPLOADS_MAX || uploading.has(actor.orgId)) {
        throw new Failure(503, 'other rows are being replaced; try again', { headers: { 'retry-after': '5' } })
      }
      uploading.add(actor.orgId)
      try {
        return jsonReply(await replaceRows(world, actor, table, { csv: await csvOf(call), uses: usesOf(actor.orgId) }))
      } finally {
        uploading.delete(actor.orgId)
      }
    },
    replyToFailure: (_head, failure, correlationId) => ({
      status: failure.status,
      headers: { ...failure.headers, 'content-type': 'application/json; charset=utf-8', 'x-correlation-id': correlationId },
      body: toJson(failureBody(failure, correlationId)) ?? '',
    }),
  }
}

async function csvOf({ head, body }: RawCall): Promise<Uint8Array<ArrayBuffer>> {
  const { 'content-type': type = CSV, 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = head.headers
  if (type.split(';')[0]?.trim().toLowerCase() !== CSV) throw new Failure(415, `the content type must be ${CSV}`)
  if (encoding.trim().toLowerCase() !== 'identity') throw new Failure(415, 'the rows must not be compressed')
  if (Number(length) > LOOKUP_BYTES_MAX) throw tooLarge()
  return whole(body)
}

const tooLarge = (): Failure => new Failure(413, `the rows must have at most ${LOOKUP_BYTES_MAX} bytes`)

/** Reads a body within the limits. The request is not destroyed, since its socket carries the answer. */
async function whole(body: Readable): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let bytes = 0
  const ended = Promise.withResolvers<void>()
  const take = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > LOOKUP_BYTES_MAX) ended.reject(tooLarge())
    else chunks.push(chunk)
  }
  const forget = finished(body, { writable: false }, (cause) => {
    if (cause) ended.reject(new Failure(400, 'the body ended before all of it had arrived', { cause }))
    else ended.resolve()
  })
  const timer = setTimeout(() => ended.reject(new Failure(408, 'the rows took too long to arrive')), UPLOAD_MS_MAX)
  try {
    body.on('data', take)
    await ended.promise
  } finally {
    clearTimeout(timer)
    forget()
    body.off('data', take)
    body.pause()
  }
  return Buffer.concat(chunks)
}
