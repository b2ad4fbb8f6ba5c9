import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { DendroClient } from '../session/session.ts'
import { useClient } from './client.ts'
import { type PatternTexts, patternIdsIn, withPatternTexts } from './pattern-names.ts'

const NONE: PatternTexts = new Map()
const IDS_MAX = 100
const RANGE = 'Last 7 days'

type Batch = { ids: Set<string>; texts: Promise<PatternTexts> }
const batches = new WeakMap<DendroClient, Batch>()

/** loadTexts loads the templates of all ids that are asked for at the same moment in one request. */
function loadTexts(client: DendroClient, ids: readonly string[]): Promise<PatternTexts> {
  const open = batches.get(client)
  if (open && open.ids.size + ids.length <= IDS_MAX) {
    for (const id of ids) open.ids.add(id)
    return open.texts
  }
  const own = new Set(ids)
  const texts = Promise.resolve().then(async () => {
    batches.delete(client)
    const where = `@pattern IN (${[...own].map((id) => `'${id}'`).join(', ')})`
    const body = { search_details: { from_expr: '*', where, time_range: RANGE } }
    const { patterns } = await client.patterns.find({ body, repeatable: true })
    return new Map(patterns.map(({ id, template }) => [id, template]))
  })
  batches.set(client, { ids: own, texts })
  return texts
}

/** usePatternTexts loads the templates of the patterns in a query. Without them, or without the right to read them, the ids remain. */
export function usePatternTexts(query: string): PatternTexts {
  const client = useClient()
  const queries = useQueryClient()
  const ids = patternIdsIn(query).slice(0, IDS_MAX)
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

/** QueryText is a query, or a sentence with one, that people read. */
export function QueryText({ text }: { text: string }) {
  return withPatternTexts(text, usePatternTexts(text))
}
