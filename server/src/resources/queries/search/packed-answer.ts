import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createGzip, gunzip } from 'node:zlib'
import type { SearchResponse } from '@dendro/api'
import { StreamedJson } from '../../../http/json-stream.ts'
import { SerializedJson } from '../../../http/serialized-json.ts'
import { toJson } from '../../../kernel/exact-json.ts'
import { jsonPieces } from '../../../kernel/json-pieces.ts'

/** A longer result is unpacked while it is sent. */
const WHOLE_BYTES = 16 * 1_024
const CHUNK_BYTES = 64 * 1_024

/** Compresses the JSON of a result while it is written. */
export async function packed(answer: Partial<SearchResponse>): Promise<Uint8Array> {
  const gzip = createGzip({ level: 1 })
  const [bytes] = await Promise.all([buffer(gzip), pipeline(Readable.from(jsonPieces(answer)), gzip)])
  return bytes
}

/** Unpacks a result and adds members in front of its own. The JSON is not parsed, so that numbers stay exact. */
export async function unpacked(
  stored: Uint8Array | null,
  members: Record<string, unknown>,
): Promise<SerializedJson<SearchResponse> | StreamedJson<SearchResponse>> {
  const added = toJson(members).slice(0, -1)
  if (stored && stored.length >= WHOLE_BYTES) return new StreamedJson(piecesAfter(`${added},`, stored))
  const inside = stored ? (await promisify(gunzip)(stored)).toString().slice(1) : '}'
  return SerializedJson.as(inside === '}' ? `${added}}` : `${added},${inside}`)
}

const OPENING_BRACE = 1

async function* piecesAfter(added: string, stored: Uint8Array): AsyncGenerator<string | Uint8Array, void, undefined> {
  yield added
  let isFirst = true
  for await (const chunk of Readable.from([stored]).pipe(createGunzip({ chunkSize: CHUNK_BYTES })) as AsyncIterable<Uint8Array>) {
    yield isFirst ? chunk.subarray(OPENING_BRACE) : chunk
    isFirst = false
  }
}
