import type { IngestAction } from '@dendro/api'
import { Recent } from '../kernel/recent.ts'
import { ALL_LISTS, type FoundLists, hasList, type LiteralSearch, SEARCH_BYTES_MAX, searchFor } from '../lines/search/literal-search.ts'
import type { SearchedLiteral } from '../lines/search/literal-tables.ts'
import type { MatchableEvent } from '../query/matchable-event.ts'
import { type EventMatcher, matcherOf } from '../query/matcher.ts'
import { parseFilter } from '../query/query.ts'
import type { ArrivingEvent, DatasetPlace, FieldText, TailSampling } from './arriving-event.ts'
import { allOf, type Hint, hintOfFilter } from './hints.ts'
import { hintOfPatterns, requiredPatterns } from './pattern-filter.ts'
import { actionOf, type RuleAction } from './rule-actions.ts'
import type { RuleRun } from './rule-run.ts'
import { SearchedText } from './searched-text.ts'

/** A rule as it applies to the events of a dataset. `position` is its rank among all rules of the organization. */
export type AppliedRule = {
  readonly id: string
  readonly position: number
  readonly version: number
  readonly where: string
  readonly action: IngestAction
}

/** What a query can match of an arriving event. */
export type EventReader<E extends ArrivingEvent> = (event: E) => MatchableEvent

/** The rule that lets an event wait until its trace is decided. The rules behind `after` apply to it then. */
export type WaitingRule = { readonly id: string; readonly after: number; readonly sampling: TailSampling }

/** The event after all rules, unless one of them drops it. Only the rules behind `after` apply to an event that has moved to another dataset. */
export type RuleResult<E extends ArrivingEvent> =
  | { readonly kind: 'kept' | 'changed'; readonly event: E }
  | { readonly kind: 'moved'; readonly event: E; readonly to: DatasetPlace; readonly after: number }
  | { readonly kind: 'waiting'; readonly event: E; readonly rule: WaitingRule }
  | { readonly kind: 'dropped' }

/** Counts what the rules of a dataset did to the events of one post. */
export type RuleCounts = {
  /** Events that a rule dropped, and the bytes of their lines as they arrived. */
  dropped: number
  droppedBytes: number
  /** The number of events that each rule dropped or changed, by its id. */
  acted: Map<string, number>
}

/** The counts of all events of a dataset, of which a part may have come from another one. */
export function sumOfCounts(one: RuleCounts | undefined, other: RuleCounts | undefined): RuleCounts | undefined {
  if (!one || !other) return one ?? other
  const acted = new Map(one.acted)
  for (const [id, events] of other.acted) acted.set(id, (acted.get(id) ?? 0) + events)
  return { dropped: one.dropped + other.dropped, droppedBytes: one.droppedBytes + other.droppedBytes, acted }
}

const noCounts = (): RuleCounts => ({ dropped: 0, droppedBytes: 0, acted: new Map() })

type CompiledRule = Pick<RuleAction, 'act' | 'changesFields' | 'isCounting'> & {
  readonly id: string
  readonly position: number
  readonly matches: EventMatcher | undefined
  /** The patterns of which a matching event must have one. */
  readonly patterns: readonly string[] | undefined
  /** False for texts with which the rule does nothing; undefined when it may act on any event. */
  readonly mayAct: Hint | undefined
}

const COMPILED_MAX = 1_024

/** Caches compiled rules by id and version. */
export class RuleCompiler {
  readonly #compiled = new Recent<string, CompiledRule>(COMPILED_MAX)

  /** The rules of a dataset, for the events of one post. */
  of(rules: readonly AppliedRule[], run: RuleRun): RuleChain {
    return new RuleChain(
      rules.map((rule) => this.#compile(rule)),
      run,
    )
  }

  #compile(rule: AppliedRule): CompiledRule {
    // A rule that moves to another position gets a new version.
    return this.#compiled.of(`${rule.id} ${rule.version}`, () => compileRule(rule))
  }
}

/** True for an event that is nothing but its line. */
export const isLine = ({ level, keys, attributes }: ArrivingEvent): boolean =>
  level === undefined && keys.length === 0 && attributes.length === 0

/** Longer than what a literal can reach beyond a part that has changed, where each of its characters is written with escapes. */
const AROUND_BYTES = 1_024

/** An event, and the lists of which it has a literal, perhaps with others. Its text is read only for hints of which the lists tell too little. */
class SearchedEvent<E extends ArrivingEvent> {
  readonly event: E
  readonly #added: string
  readonly #found: FoundLists
  #text: SearchedText | undefined

  constructor(event: E, added: string, found: FoundLists) {
    this.event = event
    this.#added = added
    this.#found = found
  }

  /** Whether the rule of a list may act on the event. */
  mayAct(hint: Hint | undefined, list: number): boolean {
    if (!hasList(this.#found, list)) return false
    if (!hint || (hint.isExact === true && this.#found !== ALL_LISTS)) return true
    this.#text ??= new SearchedText(textOfEvent(this.event, this.#added))
    return hint.test(this.#text)
  }

  /** What a rule has made of the event. */
  changedTo(event: E, search: LiteralSearch | undefined): SearchedEvent<E> {
    return new SearchedEvent(event, this.#added, search ? this.#listsOf(event, search) : ALL_LISTS)
  }

  /** The lists of this event are those of the changed one, unless a rule has changed it everywhere. Most rules pass on the parts of an earlier change. */
  #listsOf(event: E, search: LiteralSearch): FoundLists {
    const { line, changedParts } = event
    if (!isLine(event) || line.length > SEARCH_BYTES_MAX) return ALL_LISTS
    const isKnown = changedParts !== this.event.changedParts && isLine(this.event) && this.#found !== ALL_LISTS
    const [first, last] = [changedParts?.[0], changedParts?.at(-1)]
    if (!isKnown || !first || !last) return search.lists(line)
    return this.#found | search.lists(line.subarray(Math.max(0, first.start - AROUND_BYTES), last.end + AROUND_BYTES))
  }
}

/** The text of an event that hints are tested on. `added` is what the protocol adds to all events of a post. */
export function textOfEvent(event: ArrivingEvent, added: string): string {
  const { line, level, keys, attributes } = event
  const text = Buffer.from(line.buffer, line.byteOffset, line.length).toString('utf8')
  if (isLine(event)) return text + added
  return [text, level ?? '', ...keys.map(textOfField), ...attributes.map(textOfField)].join('\n') + added
}

/** Rules also find values in names. */
const textOfField = ([name, text]: FieldText): string => `${name}\n${text}`

/** Tells for each rule of a chain whether it may act. */
export type RuleSelection = readonly boolean[]

type ApplyOptions = {
  readonly selected?: RuleSelection
  readonly added?: string
  readonly search?: LiteralSearch | undefined
  readonly found?: FoundLists
}

/** Applies rules in their order. Each rule sees the event as the rules before it leave it. */
export class RuleChain {
  readonly counts: RuleCounts = noCounts()
  /** Events that match the filter of some rule. */
  matched = 0
  readonly #rules: readonly CompiledRule[]
  readonly #run: RuleRun
  readonly #hints: readonly (Hint | undefined)[]

  constructor(rules: readonly CompiledRule[], run: RuleRun) {
    this.#rules = rules
    this.#run = run
    this.#hints = rules.map(({ mayAct, patterns }) => bothOf(mayAct, patterns && hintOfPatterns(patterns, run.patterns)))
  }

  /** The rules that may act on events of these lines; the text must also contain what the protocol adds. */
  select(text: string, among?: RuleSelection): RuleSelection {
    this.#run.time.check(text.length)
    const searched = new SearchedText(text)
    return this.#hints.map((mayAct, at) => (among?.[at] ?? true) && (mayAct?.test(searched) ?? true))
  }

  /** The rules that may act on an event in whose line a search has found lists. Its text is read only for rules of which these tell too little. */
  selectFound(found: FoundLists, event: ArrivingEvent, added: string): RuleSelection {
    this.#run.time.check(event.line.length)
    const searched = new SearchedEvent(event, added, found)
    return this.#hints.map((hint, at) => searched.mayAct(hint, at))
  }

  /**
   * A search that finds every line on which a rule may act; undefined when lines tell too little. `added` is what the protocol adds to each line.
   */
  search(added: string): LiteralSearch | undefined {
    const lists: (readonly SearchedLiteral[])[] = []
    const searched = new SearchedText(added)
    for (const hint of this.#hints) {
      if (!hint?.literals || hint.test(searched)) return undefined
      lists.push(hint.literals)
    }
    return searchFor(lists)
  }

  /** Counts bytes that are searched. */
  noteSearched(bytes: number): void {
    this.#run.time.check(bytes)
  }

  /**
   * Applies the selected rules, all without a selection, and after a change those that may act on the changed event. `added` and `search` are of
   * the post, and `found` what the search has found in the line.
   */
  apply<E extends ArrivingEvent>(
    given: E,
    read: EventReader<E>,
    { selected, added = '', search, found = ALL_LISTS }: ApplyOptions = {},
  ): RuleResult<E> {
    this.#run.time.check(given.line.length)
    let event = given
    let searched = new SearchedEvent(given, added, found)
    const mayAct = (at: number): boolean => {
      if (event === given) return selected?.[at] ?? true
      if (searched.event !== event) searched = searched.changedTo(event, search)
      return searched.mayAct(this.#hints[at], at)
    }
    let readable: MatchableEvent | undefined
    const matchable = (): MatchableEvent => {
      readable ??= read(event)
      return readable
    }
    let isMatched = false
    for (let at = 0; at < this.#rules.length; at += 1) {
      const rule = this.#rules[at] as CompiledRule
      if (!mayAct(at)) continue
      if (rule.matches && !rule.matches(matchable())) continue
      isMatched = true
      const next = rule.act(event, matchable, this.#run, rule.id)
      if (rule.isCounting) this.#count(rule.id)
      if (next === event) continue
      if (next?.waitsFor) {
        this.matched += 1
        return { kind: 'waiting', event, rule: { id: rule.id, after: rule.position, sampling: next.waitsFor } }
      }
      this.#count(rule.id)
      if (next === undefined) {
        this.counts.dropped += 1
        this.counts.droppedBytes += given.line.length
        this.matched += 1
        return DROPPED
      }
      if (next.movedTo) {
        this.matched += 1
        return { kind: 'moved', event: next, to: next.movedTo, after: rule.position }
      }
      event = next
      readable = undefined
    }
    if (isMatched) this.matched += 1
    return { kind: event === given ? 'kept' : 'changed', event }
  }

  /** True if rules may change values that all events of a post share. */
  changesFields(fields: readonly FieldText[]): boolean {
    return fields.length > 0 && this.#rules.some(({ changesFields }) => changesFields?.(fields) ?? false)
  }

  #count(id: string): void {
    this.counts.acted.set(id, (this.counts.acted.get(id) ?? 0) + 1)
  }
}

const bothOf = (one: Hint | undefined, other: Hint | undefined): Hint | undefined => (one && other ? allOf([one, other]) : (one ?? other))

const DROPPED = { kind: 'dropped' } as const

function compileRule({ id, position, where, action }: AppliedRule): CompiledRule {
  const { filter } = parseFilter(where)
  const { mayAct, ...acting } = actionOf(action)
  const hints = [hintOfFilter(filter), mayAct].filter((hint) => hint !== undefined)
  return {
    id,
    position,
    patterns: requiredPatterns(filter),
    matches: filter.kind === 'all' ? undefined : matcherOf(filter),
    mayAct: hints.length > 1 ? allOf(hints) : hints[0],
    ...acting,
  }
}
