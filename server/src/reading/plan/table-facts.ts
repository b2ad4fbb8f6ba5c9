import type { EventStore } from '../../events/store/events.ts'
import { hasId } from '../filter/id-index.ts'
import type { QuerySource, TimeBounds } from '../query.ts'
import type { QueryRun } from '../run/run.ts'
import { withShapes } from './line-shapes.ts'
import { queriedPaths, withOverflowKeys } from './overflow-keys.ts'
import { branchesOf, type QueryBranch } from './table-reads.ts'

/**
 * What a read needs to know about its events: their shapes when it needs lines, and which queried keys have overflow values. `asRemembered` reads the
 * overflow maps everywhere, unless an earlier query found that they lack a key.
 */
type FactsWanted = {
  readonly sources: readonly QuerySource[]
  readonly keys: readonly string[]
  readonly bounds: TimeBounds
  readonly wantsOverflow: boolean | 'asRemembered'
  readonly sharing: object | undefined
  /** The free texts of the query. */
  readonly texts: readonly string[]
  /** Whether the range is a part of that of the query. Facts about a part must not replace those about the whole. */
  readonly isPart?: boolean
}

/** The facts of each branch, in order, and their text for comparing. */
type Facts = {
  readonly branches: readonly Pick<QueryBranch, 'shapes' | 'parts' | 'notInNames' | 'slots'>[]
  readonly text: string
  /** The events that they are about. */
  readonly bounds: TimeBounds
  /** They hold for events that have not changed since. Undefined where changes are not known. */
  readonly since: number | undefined
  isSure: boolean
}

const REMEMBERED_MAX = 256
const FACTS_CHARS_MAX = 16_384
const SOURCES_FEW = 32

const remembered = new WeakMap<EventStore, Map<string, Facts>>()
/** What the reads of one request found. */
const shared = new WeakMap<object, Map<string, Promise<Facts>>>()

/**
 * Reads branches with the facts about their events. Facts of an earlier query hold as long as the events have not changed. Otherwise the query finds the
 * facts out: if an earlier query of the same kind found some, the read begins with these at the same time, and is repeated if they have changed. Reads
 * that share a request find them once.
 */
export async function readWithFacts<T>(
  store: EventStore,
  queryRun: QueryRun,
  wanted: FactsWanted,
  read: (branches: readonly QueryBranch[]) => Promise<T>,
): Promise<T> {
  const { sources, keys, bounds, sharing, isPart = false } = wanted
  // Reading all names takes longer than searching those of the few events that may have an id.
  const texts = wanted.texts.filter((text) => !hasId(text))
  const branches = branchesOf(sources, keys)
  const needsLines = keys.includes('@raw')
  const paths = wanted.wantsOverflow ? queriedPaths(keys) : []
  if (paths.length === 0 && !needsLines) return read(branches)
  const known = knownOf(store)
  const ofAll = nameOf(queryRun, branches, { keys, texts, wantsOverflow: paths.length > 0 })
  const name = isPart && ofAll !== undefined ? `part ${ofAll}` : ofAll
  const found = findingsOf(sharing)
  const place = `${name} ${bounds.fromMs} ${bounds.toMs}`
  const shares = name === undefined ? undefined : await found.get(place)
  if (shares) return read(withFacts(branches, shares, paths))
  const guess = name === undefined ? undefined : known.get(name)
  const queried = { bounds, paths, needsLines }
  const whole = ofAll === undefined ? undefined : known.get(ofAll)
  const holding = [guess, whole].find((facts) => facts && holds(store, queryRun, facts, queried))
  if (holding) return read(withFacts(branches, holding, paths))
  if (wanted.wantsOverflow === 'asRemembered' && !needsLines && !(guess?.isSure && lacksOverflow(guess, paths))) return read(branches)
  const around = queryRun.scope && store.changes ? widened(bounds) : bounds
  const findNow = async (): Promise<Facts> => {
    const since = store.changes?.now()
    const scope = { keys, bounds: around, texts }
    const [shaped, placed] = await Promise.all([
      withShapes(store, queryRun, branches, scope),
      paths.length > 0 ? withOverflowKeys(store, queryRun, branches, scope) : branches,
    ])
    const facts = shaped.map((branch, index) => ({ ...branch, slots: placed[index]?.slots ?? branch.slots }))
    return { branches: facts, text: textOf(facts, paths), bounds: around, since, isSure: true }
  }
  const note = (facts: Facts): void => {
    // Facts about a longer range serve more queries.
    if (guess && isWithin(facts.bounds, guess.bounds) && holds(store, queryRun, guess, { ...queried, bounds: guess.bounds })) return
    remember(known, name, facts)
  }
  const find = (): Promise<Facts> => {
    const finding = findNow()
    if (name !== undefined) found.set(place, finding)
    // A read that fails here may succeed within the budget of the next.
    finding.catch(() => found.delete(place))
    return finding
  }
  if (!guess?.isSure) {
    const facts = await find()
    note({ ...facts, isSure: guess === undefined || guess.text === facts.text })
    return read(withFacts(branches, facts, paths))
  }
  const { rows, bytes, storedRows } = queryRun
  const [early, facts] = await Promise.allSettled([read(withFacts(branches, guess, paths)), find()])
  if (facts.status === 'rejected') throw facts.reason
  note({ ...facts.value, isSure: facts.value.text === guess.text })
  if (facts.value.text === guess.text) {
    if (early.status === 'rejected') throw early.reason
    return early.value
  }
  // What was read in vain does not count.
  Object.assign(queryRun, { rows, bytes, storedRows })
  return read(withFacts(branches, facts.value, paths))
}

function findingsOf(sharing: object | undefined): Map<string, Promise<Facts>> {
  const own = (sharing && shared.get(sharing)) ?? new Map<string, Promise<Facts>>()
  if (sharing) shared.set(sharing, own)
  return own
}

type QueriedFacts = { readonly bounds: TimeBounds; readonly paths: readonly string[]; readonly needsLines: boolean }

/** Whether facts about a range that contains another one serve that too. For a much shorter one, finding them out anew may tell more. */
function holds(store: EventStore, queryRun: QueryRun, facts: Facts, { bounds, paths, needsLines }: QueriedFacts): boolean {
  if (facts.since === undefined || !isWithin(bounds, facts.bounds)) return false
  const isMuchShorter = lengthOf(bounds) * MUCH < lengthOf(facts.bounds)
  const areListed = !needsLines || facts.branches.every(({ shapes }) => shapes !== undefined)
  const areInColumns = facts.branches.every(({ slots }) => !paths.some((path) => slots.mayOverflow(path)))
  return ((areListed && areInColumns) || !isMuchShorter) && areUnchanged(store, queryRun, bounds, facts.since)
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

const areUnchanged = ({ changes }: EventStore, { scope }: QueryRun, bounds: TimeBounds, since: number): boolean =>
  scope !== undefined && changes?.areUnchanged(scope.logIds, bounds, since) === true

const lacksOverflow = ({ branches }: Facts, paths: readonly string[]): boolean =>
  branches.some(({ slots }) => paths.some((path) => !slots.mayOverflow(path)))

/** The branches of this query have the layouts of today, whereas remembered ones may be older. */
const withFacts = (branches: readonly QueryBranch[], facts: Facts, paths: readonly string[]): readonly QueryBranch[] =>
  branches.map((branch, index) => {
    const own = facts.branches[index]
    if (!own) throw new Error('a branch has no facts')
    const overflowKeys = new Set(paths.filter((path) => own.slots.mayOverflow(path)))
    return {
      ...branch,
      ...(own.shapes ? { shapes: own.shapes } : {}),
      ...(own.parts ? { parts: own.parts } : {}),
      ...(own.notInNames ? { notInNames: own.notInNames } : {}),
      ...(paths.length === 0 ? {} : { slots: { ...branch.slots, mayOverflow: (path: string) => overflowKeys.has(path) } }),
    }
  })

/** Shapes come in no order. */
const textOf = (branches: Facts['branches'], paths: readonly string[]): string =>
  JSON.stringify(
    branches.map(({ shapes, parts, notInNames, slots }) => [
      shapes?.toSorted(),
      parts?.toSorted(),
      notInNames,
      paths.filter((path) => slots.mayOverflow(path)),
    ]),
  )

function knownOf(store: EventStore): Map<string, Facts> {
  const known = remembered.get(store) ?? new Map<string, Facts>()
  remembered.set(store, known)
  return known
}

/** Queries of one name have the same kinds of facts in the same branches. Those on many datasets have no name. */
function nameOf(
  { orgNumber }: QueryRun,
  branches: readonly QueryBranch[],
  { keys, texts, wantsOverflow }: Pick<FactsWanted, 'keys' | 'texts'> & { wantsOverflow: boolean },
): string | undefined {
  if (branches.some(({ sources }) => sources.length > SOURCES_FEW)) return undefined
  const ids = branches.map(({ table, sources }) => [table, sources.map(({ logId }) => logId)])
  // Facts about names are those of the texts.
  const named = branches.some(({ sources }) => sources.some(({ located }) => located.map.open.size > 0)) ? texts : []
  return JSON.stringify([orgNumber, wantsOverflow, keys, ids, named])
}

/** Forgets the oldest facts. Long ones are not worth the memory. */
function remember(known: Map<string, Facts>, name: string | undefined, facts: Facts): void {
  if (name === undefined) return
  known.delete(name)
  if (facts.text.length + name.length > FACTS_CHARS_MAX) return
  known.set(name, facts)
  const [oldest] = known.keys()
  if (known.size > REMEMBERED_MAX && oldest !== undefined) known.delete(oldest)
}
