import type { Event, ResultRow } from '@dendro/api'
import { ARRIVAL_KEY } from '@dendro/language/instant'
import type { SelectItem } from '@dendro/language/tree'
import { patternId } from '../../../kernel/pattern-id.ts'
import { arrivalOfSeq } from '../../../kernel/sequence-time.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import type { Severity } from '../../../lines/values/severity.ts'
import { keyNames } from '../../../query/key-names.ts'
import type { EventsRequest, FoundEvent } from '../../../reading/query.ts'
import { eventTimeText } from './shown-time.ts'

type TextFields = Record<string, string>

/** How found events are presented: the items of the select, the base of links, and the names of their datasets. */
export type EventView = {
  readonly items: readonly SelectItem[]
  readonly baseUrl: string
  readonly places: ReadonlyMap<string, { readonly collection: string; readonly dataset: string }>
}

/** Selects the whole event: all its keys and the line. */
export const SELECT_ALL: readonly SelectItem[] = [
  { kind: 'everything', name: '*' },
  { kind: 'key', key: '@raw', name: '@raw' },
]

/** The keys to read for a select; a bare name may stand for the attribute of that name. */
export function readKeys(items: readonly SelectItem[]): Pick<EventsRequest, 'keys' | 'withRaw' | 'withFamilies'> {
  const keys = items.flatMap((item) => (item.kind === 'key' ? [item.key] : []))
  const withRaw = keys.includes('@raw')
  const families = keys.includes('@pattern') ? { withFamilies: true } : {}
  if (items.some((item) => item.kind === 'everything')) return { keys: 'all', withRaw, ...families }
  const leaves = keys.filter((key) => !builtIns.has(key))
  return { keys: [...new Set(leaves.flatMap(keyNames))], withRaw, ...families }
}

/** Builds each event in both forms of the response, in the order found. */
export async function shownEvents(found: readonly FoundEvent[], view: EventView): Promise<{ events: Event[]; result: ResultRow[] }> {
  const shown = await mapInSteps(found, (event) => showOne(event, view))
  return { events: shown.map(({ event }) => event), result: shown.map(({ row }) => row) }
}

/** Builds one event in both forms of the response. */
export function showOne(found: FoundEvent, view: EventView): { event: Event; row: ResultRow } {
  const timestamp = Number(found.timeNs / 1_000_000n)
  const digits = String(found.seq)
  const time = eventTimeText(timestamp)
  const context = `${view.baseUrl}/context?from=${found.logId}&timestamp=${timestamp}&sequence=${digits}`
  const links: Event['links'] = [{ rel: 'context', href: context }]
  const chosen = selectFields(found, view)
  const sequence = exact(digits)
  const event: Event = {
    '@raw': chosen.raw ?? null,
    '@time': time,
    '@status': statusOf(found.severity),
    message_kvs: chosen.message,
    attributes: chosen.attributes,
    metadata: { service_id: found.logId, timestamp, sequence, context },
    links,
  }
  const row: ResultRow = {
    ...chosen.selected,
    '@time': time,
    '@sequence': digits,
    '@context': context,
    metadata: {
      logId: found.logId,
      timestamp,
      sequence,
      origin: found.origin,
      context,
      selectedKeys: chosen.selected,
      unselectedKeys: {},
    },
    links,
  }
  if (chosen.raw !== undefined) row['@raw'] = chosen.raw
  return { event, row }
}

/** Writes digits as a JSON integer unchanged; a bigint would need a second serializer for every response. */
const exact = (digits: string): bigint => JSON.rawJSON(digits) as bigint

/** The class of a severity; unknown severities are info. */
export function statusOf(severity: Severity): 'info' | 'warn' | 'error' {
  if (severity === 'error' || severity === 'fatal') return 'error'
  return severity === 'warn' ? 'warn' : 'info'
}

const utf8 = new TextDecoder()
export const rawText = (raw: Uint8Array | undefined): string => (raw === undefined ? '' : utf8.decode(raw))

type BuiltIn = (found: FoundEvent, view: EventView) => string | undefined
const builtIns: ReadonlyMap<string, BuiltIn> = new Map(
  Object.entries<BuiltIn>({
    '@raw': (found) => rawText(found.raw),
    '@time': (found) => eventTimeText(Number(found.timeNs / 1_000_000n)),
    '@timestamp': (found) => String(found.timeNs / 1_000_000n),
    '@status': (found) => statusOf(found.severity),
    '@origin': (found) => found.origin,
    '@sequence': (found) => String(found.seq),
    [ARRIVAL_KEY]: (found) => eventTimeText(arrivalOfSeq(found.seq)),
    '@collection': (found, { places }) => places.get(found.logId)?.collection ?? '',
    '@pattern': ({ skeleton, family }) => (skeleton === 0n ? undefined : patternId(family ?? skeleton)),
    '@dataset': (found, { places }) => places.get(found.logId)?.dataset ?? '',
  }),
)

type SelectedFields = { raw: string | undefined; message: TextFields; attributes: TextFields; selected: TextFields }

/** Sorts the values of an event by the select. Objects without prototype accept keys of any name. */
function selectFields(found: FoundEvent, view: EventView): SelectedFields {
  const chosen: SelectedFields = {
    raw: undefined,
    message: Object.create(null),
    attributes: Object.create(null),
    selected: Object.create(null),
  }
  for (const item of view.items) {
    if (item.kind === 'everything') {
      for (const [path, value] of found.leaves) {
        addField(chosen, path, value)
        chosen.selected[path] = value
      }
    } else if (item.kind === 'key') selectField(chosen, item.key, item.name, found, view)
  }
  return chosen
}

function selectField(chosen: SelectedFields, key: string, name: string, found: FoundEvent, view: EventView): void {
  const builtIn = builtIns.get(key)
  if (builtIn) {
    const value = builtIn(found, view)
    if (value === undefined) return
    if (key === '@raw') chosen.raw = value
    if (key === ARRIVAL_KEY) chosen.attributes[key] = value
    if (key !== '@raw' || name !== '@raw') chosen.selected[name] = value
    return
  }
  const path = keyNames(key).find((one) => found.leaves.has(one))
  const value = path === undefined ? undefined : found.leaves.get(path)
  if (path === undefined || value === undefined) return
  addField(chosen, path, value)
  chosen.selected[name] = value
}

function addField({ message, attributes }: SelectedFields, path: string, value: string): void {
  if (path.startsWith('$')) attributes[path] = value
  else message[path] = value
}
