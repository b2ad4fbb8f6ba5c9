import { createHash } from 'node:crypto'
import type { EventStore } from '../../events/store/events.ts'
import type { CacheKind, CacheScope } from '../../events/store/range-cache.ts'
import { hasId } from '../filter/id-index.ts'
import type { EventQuery, TableFacts, TimeBounds } from '../query.ts'
import { UndecidedLine } from '../run/failure.ts'
import { type QueryRun, startQueryRun } from '../run/run.ts'
import { findLineFacts } from './line-shapes.ts'
import { findOverflowKeys, queriedPaths } from './overflow-keys.ts'
import { withFamilies } from './pattern-families.ts'
import { type TableRead, tableReadsFor, withFacts } from './table-reads.ts'

/** What a read wants to know about its events. */
type Wanted = {
  readonly keys: readonly string[]
  /** The free texts of the query. */
  readonly texts: readonly string[]
  /**
   * Whether to find out which queried keys have overflow values. `cachedOnly` reads the overflow maps everywhere, unless an earlier query found that they
   * lack a key.
   */
  readonly overflow: 'find' | 'cachedOnly' | 'readEverywhere'
  /** Whether the range is a part of that of the query. Facts about a part must not replace those about the whole. */
  readonly isPart?: boolean
}

/**
 * A query that can be read: with the families of its patterns, and its tables with the facts about their events. What it reads is about the events after
 * `startedAt` changes: the facts were found out later.
 */
export type Prepared = {
  readonly queryRun: QueryRun
  readonly query: EventQuery
  readonly tableReads: readonly TableRead[]
  readonly startedAt: number
}

/** Prepares a query and reads it. The read may run twice: the first time with facts that turn out to be old. */
export async function prepare<T>(
  store: EventStore,
  given: EventQuery,
  wanted: Wanted,
  read: (prepared: Prepared) => Promise<T>,
): Promise<T> {
  const queryRun = startQueryRun(given)
  const startedAt = store.caches.now()
  const query = await withFamilies(store, queryRun, given, wanted.keys)
  return readWithFacts(store, queryRun, query, wanted, (tableReads) => read({ queryRun, query, tableReads, startedAt }))
}

/** The facts of each table, in order, and their text for comparing. They were the same when they were last found out, if `isSure`. */
type KnownFacts = { readonly tables: readonly TableFacts[]; readonly text: string; readonly isSure: boolean }
type Facts = KnownFacts & { readonly bounds: TimeBounds; readonly since: number }

const FACTS: CacheKind<KnownFacts> = { name: 'facts', extentsMax: 1, bytesMax: 16_384, bytesOf: ({ text }) => text.length }

/**
 * Reads tables with the facts about their events. Facts of an earlier query hold as long as the events have not changed. Otherwise the query finds the
 * facts out: if an earlier query of the same kind found some, the read begins with these at the same time, and is repeated if they have changed. Reads
 * that share a request find them once.
 */
export async function readWithFacts<T>(
  store: EventStore,
  queryRun: QueryRun,
  { sources, bounds, sharedFacts }: Pick<EventQuery, 'sources' | 'bounds' | 'sharedFacts'>,
  wanted: Wanted,
  read: (tableReads: readonly TableRead[]) => Promise<T>,
): Promise<T> {
  const { keys, overflow, isPart = false } = wanted
  // Reading all names takes longer than searching those of the few events that may have an id.
  const texts = wanted.texts.filter((text) => !hasId(text))
  const tableReads = tableReadsFor(sources, keys)
  const needsLines = keys.includes('@raw')
  const paths = overflow === 'readEverywhere' ? [] : queriedPaths(keys)
  if (paths.length === 0 && !needsLines) return read(tableReads)
  const scope: CacheScope = queryRun.scope ?? { orgNumber: queryRun.orgNumber, logIds: [] }
  const readWith = (facts: readonly TableFacts[]): Promise<T> => {
    const factual = tableReads.map((tableRead, index) => withFacts(tableRead, facts[index]))
    return wanted.texts.length === 0
      ? read(factual)
      : readDecided(store, queryRun, scope, { tableReads: factual, texts: wanted.texts, bounds }, read)
  }
  const around = queryRun.scope && store.caches.isExact ? widened(bounds) : bounds
  const find = (): Promise<readonly TableFacts[]> => findFacts(store, queryRun, tableReads, { keys, paths, texts, bounds: around })

  // Queries of one name have the same kinds of facts in the same tables.
  const ofWhole = nameOf(tableReads, { keys, texts, wantsOverflow: paths.length > 0 })
  const name = isPart ? `part ${ofWhole}` : ofWhole
  const place = `${name} ${bounds.fromMs} ${bounds.toMs}`
  const shared = await sharedFacts?.get(place)
  if (shared) return readWith(shared)
  const cache = store.caches.of(FACTS)
  const known = (of: string): Facts | undefined => {
    const last = cache.last(scope, of)
    return last && { ...last.value, bounds: last.range, since: last.since }
  }
  const queried = { paths, needsLines }
  const hold = (facts: Facts, range: TimeBounds): boolean =>
    queryRun.scope !== undefined && serves(facts, range, queried) && cache.holds(scope, range, facts.since)
  const guess = known(name)
  const holding = [guess, known(ofWhole)].find((facts) => facts && hold(facts, bounds))
  if (holding) return readWith(holding.tables)
  if (overflow === 'cachedOnly' && !needsLines && !(guess?.isSure && lacksOverflow(guess, paths))) return read(tableReads)

  const since = store.caches.now()
  const findOnce = (): Promise<readonly TableFacts[]> => {
    const finding = find()
    sharedFacts?.set(place, finding)
    // A read that fails here may succeed within the budget of the next.
    finding.catch(() => sharedFacts?.delete(place))
    return finding
  }
  const keep = (tables: readonly TableFacts[], text: string, isSure: boolean): void => {
    // Facts about a longer range serve more queries.
    if (guess && isWithin(around, guess.bounds) && hold(guess, guess.bounds)) return
    cache.put(scope, name, [{ range: around, since, value: { tables, text, isSure } }])
  }
  if (!guess?.isSure) {
    const tables = await findOnce()
    const text = textOf(tables)
    keep(tables, text, guess === undefined || guess.text === text)
    return readWith(tables)
  }
  const { rows, bytes, storedRows } = queryRun
  const [early, facts] = await Promise.allSettled([readWith(guess.tables), findOnce()])
  if (facts.status === 'rejected') throw facts.reason
  const text = textOf(facts.value)
  keep(facts.value, text, text === guess.text)
  if (text === guess.text) {
    if (early.status === 'rejected') throw early.reason
    return early.value
  }
  // What the early read has read does not count.
  Object.assign(queryRun, { rows, bytes, storedRows })
  return readWith(facts.value)
}

type TextRead = { readonly tableReads: readonly TableRead[]; readonly texts: readonly string[]; readonly bounds: TimeBounds }

/** The texts that lines hold in a way that values did not decide. */
const UNDECIDED: CacheKind<true> = { name: 'undecided', extentsMax: 1, bytesMax: 1_024, bytesOf: () => 0 }

/**
 * Searches lines for texts. There is hardly ever a line that must be rebuilt to decide, so the first statement fails if it meets one. The second, which rebuilds
 * such lines, takes longer for all, and is sent at once when these texts are searched for again.
 */
async function readDecided<T>(
  store: EventStore,
  queryRun: QueryRun,
  scope: CacheScope,
  { tableReads, texts, bounds }: TextRead,
  read: (tableReads: readonly TableRead[]) => Promise<T>,
): Promise<T> {
  const undecided = store.caches.of(UNDECIDED)
  const name = hashOf([texts, tableReads.map(({ sources }) => sources.map(({ logId }) => logId))])
  if (undecided.last(scope, name)) return read(tableReads)
  const { rows, bytes, storedRows } = queryRun
  try {
    return await read(tableReads.map((tableRead) => ({ ...tableRead, failsUndecided: true })))
  } catch (thrown) {
    if (!(thrown instanceof UndecidedLine)) throw thrown
    undecided.put(scope, name, [{ range: bounds, since: store.caches.now(), value: true }])
    // What the failed read has read does not count.
    Object.assign(queryRun, { rows, bytes, storedRows })
    return read(tableReads)
  }
}

type FactsScope = {
  readonly keys: readonly string[]
  readonly paths: readonly string[]
  readonly texts: readonly string[]
  readonly bounds: TimeBounds
}

async function findFacts(
  store: EventStore,
  queryRun: QueryRun,
  tableReads: readonly TableRead[],
  { keys, paths, texts, bounds }: FactsScope,
): Promise<readonly TableFacts[]> {
  const [ofLines, ofKeys] = await Promise.all([
    keys.includes('@raw') ? findLineFacts(store, queryRun, tableReads, { bounds, texts }) : undefined,
    paths.length > 0 ? findOverflowKeys(store, queryRun, tableReads, { keys, bounds }) : undefined,
  ])
  return tableReads.map((_, index) => ({ ...ofLines?.[index], ...ofKeys?.[index] }))
}

type QueriedFacts = { readonly paths: readonly string[]; readonly needsLines: boolean }

/** Whether facts about a range that contains another one serve that too. For a much shorter one, finding them out again may tell more. */
function serves({ bounds: around, tables }: Facts, bounds: TimeBounds, { paths, needsLines }: QueriedFacts): boolean {
  if (!isWithin(bounds, around)) return false
  const isMuchShorter = lengthOf(bounds) * MUCH < lengthOf(around)
  const areListed = !needsLines || tables.every(({ shapes }) => shapes !== undefined)
  const areInColumns = tables.every(({ overflowKeys }) => !paths.some((path) => overflowKeys?.has(path)))
  return (areListed && areInColumns) || !isMuchShorter
}

const MUCH = 4
const MINUTE_MS = 60_000
/** Facts are found out for whole steps of time around a range, so that they serve the range that has moved on a little, too. */
const STEPS_MS: readonly number[] = [MINUTE_MS, 10 * MINUTE_MS, 60 * MINUTE_MS, 720 * MINUTE_MS]
const STEPS_MIN = 8

function widened({ fromMs, toMs }: TimeBounds): TimeBounds {
  const stepMs = STEPS_MS.findLast((one) => (toMs - fromMs) / one >= STEPS_MIN)
  return stepMs === undefined ? { fromMs, toMs } : { fromMs: Math.floor(fromMs / stepMs) * stepMs, toMs: Math.ceil(toMs / stepMs) * stepMs }
}

const lengthOf = ({ fromMs, toMs }: TimeBounds): number => toMs - fromMs
const isWithin = (inner: TimeBounds, outer: TimeBounds): boolean => inner.fromMs >= outer.fromMs && inner.toMs <= outer.toMs

const lacksOverflow = ({ tables }: Facts, paths: readonly string[]): boolean =>
  tables.some(({ overflowKeys }) => paths.some((path) => !overflowKeys?.has(path)))

/** Shapes and keys come in no order. */
const textOf = (tables: readonly TableFacts[]): string =>
  JSON.stringify(
    tables.map(({ shapes, textShapes, parts, absentFromKeys, overflowKeys }) => [
      shapes?.toSorted(),
      textShapes?.toSorted(),
      parts?.toSorted(),
      absentFromKeys,
      overflowKeys && [...overflowKeys].sort(),
    ]),
  )

/** Names facts by what they depend on. Ten thousand datasets have as short a name as one. */
function nameOf(
  tableReads: readonly TableRead[],
  { keys, texts, wantsOverflow }: Pick<Wanted, 'keys' | 'texts'> & { wantsOverflow: boolean },
): string {
  const ids = tableReads.map(({ table, sources }) => [table, sources.map(({ logId }) => logId)])
  // Facts about names are those of the texts.
  const named = tableReads.some(({ sources }) => sources.some(({ located }) => located.map.open.size > 0)) ? texts : []
  return hashOf([wantsOverflow, keys, ids, named])
}

const hashOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64')
