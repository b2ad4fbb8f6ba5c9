import type { BodyOf, contract, ReplyOf } from '@dendro/api'
import { printFilter } from '@dendro/language/print'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { patternId } from '../../../kernel/pattern-id.ts'
import { messageKeys } from '../../../lines/reference/event.ts'
import { familyText } from '../../../patterns/family-form.ts'
import { templateOf } from '../../../patterns/pattern.ts'
import { kindOfValues, placeholderExpressions, readableText, valueExpression } from '../../../patterns/placeholders.ts'
import { skeletonText } from '../../../patterns/skeleton.ts'
import { countMatching, readEvents, readPlacedValues } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { recordSearch } from '../../data/event-queries/event-queries.ts'
import { selectFamiliesById } from '../../data/pattern-families/pattern-families.ts'
import { patternRange } from './range.ts'

type ValuesRequest = BodyOf<typeof contract.patterns.values>
type ValuesReply = ReplyOf<typeof contract.patterns.values>

const VALUES_SHOWN_DEFAULT = 10
const CONDITION_CHARS_MAX = 2_000
const NOWHERE = { position: 0, length: 0 }
const isPattern = (id: string): Filter => ({
  kind: 'compare',
  key: '@pattern',
  operator: '=',
  value: { kind: 'text', text: id },
  at: NOWHERE,
})

/** Counts the values of the placeholders of a pattern or family. */
export async function findValues(
  world: World,
  actor: Actor,
  { search_details: ask, id, limit = VALUES_SHOWN_DEFAULT }: ValuesRequest,
  signal: AbortSignal,
): Promise<ValuesReply> {
  const { datasets, eventQuery, startedMs } = await patternRange(world, actor, ask, signal, isPattern(id))
  const request = { limit: 1, newestFirst: true, keys: messageKeys, withRaw: true, withFamilies: true }
  const { events, cost: oneCost } = await readEvents(world.events, eventQuery, request)
  const { count, cost: countCost } = await countMatching(world.events, eventQuery)
  const [newest] = events
  if (!newest) {
    recordSearch(world, actor, { datasets, bytes: oneCost.bytes + countCost.bytes, startedMs })
    return { id, template: '', text: '', count, placeholders: [] }
  }
  const message = messageKeys.map((key) => newest.leaves.get(key)).find((text) => text) ?? Buffer.from(newest.raw ?? []).toString()
  const shown = patternId(newest.family ?? newest.skeleton)
  const family = newest.family === undefined ? undefined : { family: shown }
  const [row] = family && id === shown ? await selectFamiliesById(world.meta, actor.orgId, [newest.logId], [shown]) : []
  const pattern = row ? familyText(row.words, message) : skeletonText(message)
  const expressions = placeholderExpressions(pattern)
  const read = expressions ? await readPlacedValues(world.events, eventQuery, { expressions, limit }) : undefined
  recordSearch(world, actor, { datasets, bytes: oneCost.bytes + countCost.bytes + (read?.cost.bytes ?? 0), startedMs })
  const placeholders = read ? placeholdersOf(read, { id, pattern }) : []
  const template = templateOf(pattern)
  const onlyValues = placeholders.map(({ kind, distinct, values }) => ({ kind, only: distinct === 1 ? values[0]?.value : undefined }))
  return { id, ...family, template, text: readableText(template, onlyValues), count, placeholders }
}

type FoundValues = Awaited<ReturnType<typeof readPlacedValues>>
type ShownPattern = { readonly id: string; readonly pattern: string }

function placeholdersOf({ values, key, isAmbiguous }: FoundValues, shown: ShownPattern): ValuesReply['placeholders'] {
  const whereOf = (place: number, value: string): { where?: string } => {
    if (key === undefined || (isAmbiguous && place > 1)) return {}
    const where = conditionOf(shown, key, valueExpression(shown.pattern, place - 1, value))
    return where.length > CONDITION_CHARS_MAX ? {} : { where }
  }
  return [...Map.groupBy(values, ({ place }) => place).values()].map((own) => ({
    kind: kindOfValues(own.map(({ value }) => value)),
    count: own[0]?.total ?? 0,
    distinct: own[0]?.distinct ?? 0,
    values: own.map(({ place, value, count }) => ({ value, count, ...whereOf(place, value) })),
  }))
}

const conditionOf = ({ id }: ShownPattern, key: string, pattern: string): string =>
  printFilter({ kind: 'and', of: [isPattern(id), { kind: 'regex', key, negated: false, ignoreCase: false, pattern, at: NOWHERE }] })
