import { badRequest } from '../../../kernel/errors.ts'
import type { IngestRequest, ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { Documents } from './document.ts'
import { decoded, routeOfIndex } from './index-name.ts'

/** The end of the path of a single document: `/web/_doc`, `/web/_doc/<id>` or `/web/_create/<id>`. */
export const SINGLE = /\/{1,3}(?<index>[^/]+)\/{1,3}(?:_doc|(?<create>_create)(?=\/{1,3}[^/]))(?:\/{1,3}(?<id>[^/]+))?\/{0,3}$/

/** The data of the reply to a single document. */
export type SingleNotes = { index: string; id: string }

/** Reads a single document. An unreadable one refuses the post. */
export function parseSingle({ path, body }: Pick<IngestRequest, 'path' | 'body'>): ParsedBody {
  const { index = '', id = '', create } = SINGLE.exec(path)?.groups ?? {}
  const notes: SingleNotes = { index: decoded(index), id: decoded(id) }
  if (notes.index.startsWith('_')) throw badRequest(`${notes.index.slice(0, 100)} is not a valid index name`)
  const batches = new Batches(body)
  new Documents(body, batches).read(0, body.length)
  batches.take(batches.of(routeOfIndex(notes.index)))
  const key = create === undefined ? {} : { idempotencyKey: `${notes.index}/${notes.id}` }
  return { ...batches.parsed(), notes, ...key }
}

/** The outcome in the format of the protocol. */
export const singleReply = ({ index, id }: SingleNotes): string =>
  JSON.stringify({
    _index: index,
    _id: id,
    _version: 1,
    result: 'created',
    _shards: { total: 1, successful: 1, failed: 0 },
    _seq_no: 0,
    _primary_term: 1,
  })
