import { readFilterPath, type Wants } from './filter-path.ts'

/** The verbs of an action. Notes refer to them by their position in the list. */
export const verbs = ['index', 'create', 'update', 'delete'] as const
export type Verb = (typeof verbs)[number]

/** The data of the reply to each action, in a few large arrays, since they are sent between threads. */
export type BulkNotes = {
  verbs: Uint8Array
  /** The distinct names; `indexNumbers` has the position of each action's name. */
  indexes: readonly string[]
  indexNumbers: Uint32Array
  ids: readonly string[]
}

type Member = readonly [name: string, json: string]

/**
 * One item for each action, in order and under its verb: senders match items by position. The member `items` directly follows `errors`,
 * because one sender searches for exactly these characters.
 */
export function bulkReply(notes: BulkNotes, rejected: ReadonlyMap<number, string>, filterPath: string | undefined): string {
  const wants = readFilterPath(filterPath)
  const items = itemsOf(notes, rejected, wants)
  const members: Member[] = []
  if (wants('took')) members.push(['took', '0'])
  if (wants('errors')) members.push(['errors', String(rejected.size > 0)])
  if (items.length > 0 || filterPath === undefined) members.push(['items', `[${items.join(',')}]`])
  return object(members)
}

function itemsOf(notes: BulkNotes, rejected: ReadonlyMap<number, string>, wants: Wants): string[] {
  const templates = new Map<number, readonly string[]>()
  const items: string[] = []
  for (let at = 0; at < notes.verbs.length; at += 1) {
    const verbNumber = notes.verbs[at] ?? 0
    const indexNumber = notes.indexNumbers[at] ?? 0
    const verb = verbs[verbNumber] ?? 'index'
    const index = notes.indexes[indexNumber] ?? ''
    const reason = rejected.get(at)
    if (reason !== undefined) {
      items.push(failed(verb, index, notes.ids[at] ?? '', reason, wants))
      continue
    }
    const place = indexNumber * verbs.length + verbNumber
    const template = templates.get(place) ?? done(verb, index, wants).split(ID_PLACE)
    templates.set(place, template)
    items.push(template.length === 1 ? (template[0] ?? '') : template.join(JSON.stringify(notes.ids[at] ?? '')))
  }
  return items.filter((item) => item !== '')
}

/** Placeholder of an id; JSON contains no such character. */
const ID_PLACE = '\0'

/** The item of a successful action. Deletions never find a document. */
function done(verb: Verb, index: string, wants: Wants): string {
  const isDelete = verb === 'delete'
  return item(verb, wants, [
    ['_index', JSON.stringify(index)],
    ['_id', ID_PLACE],
    ['_version', '1'],
    ['result', isDelete ? '"not_found"' : '"created"'],
    ['status', isDelete ? '404' : '201'],
  ])
}

function failed(verb: Verb, index: string, id: string, reason: string, wants: Wants): string {
  const error = [
    ['type', '"mapper_parsing_exception"'],
    ['reason', JSON.stringify(reason)],
  ] as const
  const wanted = error.filter(([name]) => wants('items', verb, 'error', name))
  return item(verb, wants, [
    ['_index', JSON.stringify(index)],
    ...(id === '' ? [] : [['_id', JSON.stringify(id)] as const]),
    ['status', '400'],
    ...(wanted.length === 0 ? [] : [['error', object(wanted)] as const]),
  ])
}

function item(verb: Verb, wants: Wants, members: readonly Member[]): string {
  const wanted = members.filter(([name]) => name === 'error' || wants('items', verb, name))
  return wanted.length === 0 ? '' : `{"${verb}":${object(wanted)}}`
}

const object = (members: readonly Member[]): string => `{${members.map(([name, json]) => `"${name}":${json}`).join(',')}}`
