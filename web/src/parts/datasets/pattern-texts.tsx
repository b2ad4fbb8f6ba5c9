import { type PatternTexts, patternIdsIn, patternValuesIn, withPatternTexts, withPatternValues } from '@dendro/language/pattern-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { DendroClient } from '../../session/session.ts'
import { useClient } from '../shell/client.ts'

const NONE: PatternTexts = new Map()
const IDS_MAX = 100
/** Most patterns occurred lately, which costs little to find out. */
const RECENT_MS = 7 * 86_400_000

type Batch = { ids: Set<string>; texts: Promise<PatternTexts> }
const batches = new WeakMap<DendroClient, Batch>()

/** Loads the templates of all ids that are asked for at the same moment in one request. */
function loadTexts(client: DendroClient, ids: readonly string[]): Promise<PatternTexts> {
  const open = batches.get(client)
  if (open && open.ids.size + ids.length <= IDS_MAX) {
    for (const id of ids) open.ids.add(id)
    return open.texts
  }
  const own = new Set(ids)
  const texts = Promise.resolve().then(async () => {
    batches.delete(client)
    const nowMs = Date.now()
    const recent = await findTexts(client, [...own], nowMs - RECENT_MS, nowMs)
    const missing = [...own].filter((id) => !recent.has(id))
    if (missing.length === 0) return recent
    return new Map([...recent, ...(await findTexts(client, missing, 0, nowMs))])
  })
  batches.set(client, { ids: own, texts })
  return texts
}

async function findTexts(client: DendroClient, ids: readonly string[], from_ts: number, to_ts: number): Promise<PatternTexts> {
  const where = `@pattern IN (${ids.map((id) => `'${id}'`).join(', ')})`
  const { patterns } = await client.patterns.find({ body: { search_details: { from_expr: '*', where, from_ts, to_ts } }, repeatable: true })
  return new Map(patterns.map(({ id, template }) => [id, template]))
}

/** Loads the templates of the patterns in a query. Without them, or without the right to read them, the ids remain. */
export const usePatternTexts = (query: string): PatternTexts => useTextsOf(patternIdsIn(query))

/** Loads the templates of the patterns in the names of groups, where `@pattern` is a key. */
export const useGroupTexts = (keys: readonly string[], names: readonly string[]): PatternTexts =>
  useTextsOf(keys.includes('@pattern') ? patternValuesIn(names) : NO_IDS)

const NO_IDS: readonly string[] = []

function useTextsOf(all: readonly string[]): PatternTexts {
  const client = useClient()
  const queries = useQueryClient()
  const ids = all.slice(0, IDS_MAX)
  const { data = NONE } = useQuery({
    queryKey: ['pattern texts', ids],
    enabled: ids.length > 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<PatternTexts> => {
      const known = (id: string) => queries.getQueryData<string>(['pattern text', id])
      const missing = ids.filter((id) => known(id) === undefined)
      const loaded = missing.length === 0 ? NONE : await loadTexts(client, missing)
      for (const [id, template] of loaded) queries.setQueryData(['pattern text', id], template)
      return new Map(ids.flatMap((id) => [[id, known(id)] as const]).flatMap(([id, text]) => (text === undefined ? [] : [[id, text]])))
    },
  })
  return data
}

/** The name of a group by some keys, with the text of a pattern in place of its id. */
export function GroupText({ keys, name }: { keys: readonly string[]; name: string }) {
  return withPatternValues(name, useGroupTexts(keys, [name]))
}

/** Puts the texts of patterns in place of their ids in the names of series of groups by some keys. */
export function useNamed<T extends { readonly name: string }>(keys: readonly string[], series: readonly T[]): T[] {
  const texts = useGroupTexts(
    keys,
    series.map(({ name }) => name),
  )
  return useMemo(() => series.map((one) => ({ ...one, name: withPatternValues(one.name, texts) })), [series, texts])
}

/** A query, or a sentence with one, that people read. */
export function QueryText({ text }: { text: string }) {
  return withPatternTexts(text, usePatternTexts(text))
}
