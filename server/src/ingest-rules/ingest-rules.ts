import { hash } from 'node:crypto'
import type { IngestAction } from '@dendro/api'
import { Failure } from '../kernel/errors.ts'
import { keyReader, type MatchableEvent } from '../query/matchable-event.ts'
import { type EventMatcher, matcherOf } from '../query/matcher.ts'
import { parseFilter } from '../query/query.ts'
import { type Hint, hintOfFilter } from './hints.ts'
import { Redactor } from './redactor.ts'

/** A rule as it applies to the events of a dataset. */
export type AppliedRule = { readonly id: string; readonly version: number; readonly where: string; readonly action: IngestAction }

type Field = readonly [name: string, text: string]

/** An event before it is stored: its line, and what its protocol adds: keys, attributes and a level. */
export type ArrivingEvent = {
  readonly line: Uint8Array
  readonly keys: readonly Field[]
  readonly attributes: readonly Field[]
  readonly level?: string | undefined
}

/** What a query can match of an arriving event. */
export type EventReader<E extends ArrivingEvent> = (event: E) => MatchableEvent

/** The event after all rules, unless one of them drops it. */
export type RuleResult<E extends ArrivingEvent> = { readonly kind: 'kept' | 'changed'; readonly event: E } | { readonly kind: 'dropped' }

/** Counts what the rules of a dataset did to the events of one post. */
export type RuleCounts = {
  /** Events that a rule dropped, and the bytes of their lines as they arrived. */
  dropped: number
  droppedBytes: number
  /** The number of events that each rule dropped or changed, by its id. */
  acted: Map<string, number>
}

const noCounts = (): RuleCounts => ({ dropped: 0, droppedBytes: 0, acted: new Map() })

type CompiledRule = {
  readonly id: string
  readonly matches: EventMatcher | undefined
  /** False for texts with which the rule does nothing; undefined when it may act on any event. */
  readonly mayAct: Hint | undefined
  /** Undefined drops the event. The same event means that the rule leaves it as it is. */
  readonly changesFields: ((fields: readonly Field[]) => boolean) | undefined
  readonly act: <E extends ArrivingEvent>(event: E, matchable: () => MatchableEvent) => E | undefined
}

const COMPILED_MAX = 1_024

/** Caches compiled rules by id and version. */
export class RuleCompiler {
  readonly #compiled = new Map<string, CompiledRule>()

  /** The rules of a dataset, for the events of one post. */
  of(rules: readonly AppliedRule[], time: RuleTime): RuleChain {
    return new RuleChain(
      rules.map((rule) => this.#compile(rule)),
      time,
    )
  }

  #compile(rule: AppliedRule): CompiledRule {
    const key = `${rule.id} ${rule.version}`
    const compiled = this.#compiled.get(key) ?? compileRule(rule)
    this.#compiled.delete(key)
    this.#compiled.set(key, compiled)
    const oldest = this.#compiled.keys().next()
    if (this.#compiled.size > COMPILED_MAX && !oldest.done) this.#compiled.delete(oldest.value)
    return compiled
  }
}

/** The time that rules may take for the events of one post. A hung worker is replaced later than that. */
const TIME_MAX_MS = 8_000
/** The time is read each time this number of bytes of lines has been checked. */
const TIME_CHECK_BYTES = 65_536

/** Bounds the time that rules take for a post. */
export class RuleTime {
  #uncheckedBytes = 0
  #usedMs = 0
  #startedMs = performance.now()

  /** Begins a step of work. Time between steps does not count. */
  start(): void {
    this.#startedMs = performance.now()
  }

  check(bytes: number): void {
    this.#uncheckedBytes += bytes
    if (this.#uncheckedBytes < TIME_CHECK_BYTES) return
    this.#uncheckedBytes = 0
    const nowMs = performance.now()
    this.#usedMs += nowMs - this.#startedMs
    this.#startedMs = nowMs
    if (this.#usedMs <= TIME_MAX_MS) return
    throw new Failure(413, 'the ingest rules take too long for a post of this size; send smaller posts, or simplify the rules')
  }
}

/** Tells for each rule of a chain whether it may act. */
export type RuleSelection = readonly boolean[]

/** Applies rules in their order. Each rule sees the event as the rules before it leave it. */
export class RuleChain {
  readonly counts: RuleCounts = noCounts()
  /** Events that match the filter of some rule. */
  matched = 0
  readonly #rules: readonly CompiledRule[]
  readonly #time: RuleTime

  constructor(rules: readonly CompiledRule[], time: RuleTime) {
    this.#rules = rules
    this.#time = time
  }

  /** The rules that may act on events of these lines; the text must also contain what the protocol adds. */
  select(text: string, among?: RuleSelection): RuleSelection {
    this.#time.check(text.length)
    return this.#rules.map(({ mayAct }, at) => (among?.[at] ?? true) && (mayAct?.(text) ?? true))
  }

  /** Applies the selected rules, and after a change all that follow. */
  apply<E extends ArrivingEvent>(given: E, read: EventReader<E>, selected?: RuleSelection): RuleResult<E> {
    this.#time.check(given.line.length)
    let event = given
    let readable: MatchableEvent | undefined
    const matchable = (): MatchableEvent => {
      readable ??= read(event)
      return readable
    }
    let isMatched = false
    for (let at = 0; at < this.#rules.length; at += 1) {
      const rule = this.#rules[at] as CompiledRule
      if (selected?.[at] === false && event === given) continue
      if (rule.matches && !rule.matches(matchable())) continue
      isMatched = true
      const next = rule.act(event, matchable)
      if (next === event) continue
      this.#count(rule.id)
      if (next === undefined) {
        this.counts.dropped += 1
        this.counts.droppedBytes += given.line.length
        this.matched += 1
        return DROPPED
      }
      event = next
      readable = undefined
    }
    if (isMatched) this.matched += 1
    return { kind: event === given ? 'kept' : 'changed', event }
  }

  /** True if rules may change values that all events of a post share. */
  changesFields(fields: readonly Field[]): boolean {
    return fields.length > 0 && this.#rules.some(({ changesFields }) => changesFields?.(fields) ?? false)
  }

  #count(id: string): void {
    this.counts.acted.set(id, (this.counts.acted.get(id) ?? 0) + 1)
  }
}

const DROPPED = { kind: 'dropped' } as const

function compileRule({ id, where, action }: AppliedRule): CompiledRule {
  const { filter } = parseFilter(where)
  const { mayAct, ...acting } = actionOf(action)
  const hints = [hintOfFilter(filter), mayAct].filter((hint) => hint !== undefined)
  return {
    id,
    matches: filter.kind === 'all' ? undefined : matcherOf(filter),
    mayAct: hints.length === 0 ? undefined : (text) => hints.every((hint) => hint(text)),
    ...acting,
  }
}

type Action = Pick<CompiledRule, 'act' | 'changesFields' | 'mayAct'>

function actionOf(action: IngestAction): Action {
  switch (action.type) {
    case 'DROP':
      return { act: () => undefined, changesFields: undefined, mayAct: undefined }
    case 'SAMPLE': {
      const { keep, key } = action
      const read = key === undefined ? undefined : keyReader(key)
      return {
        act: (event, matchable) => (shareOf(read?.(matchable()) ?? event.line) < keep ? event : undefined),
        changesFields: undefined,
        mayAct: undefined,
      }
    }
    case 'REDACT': {
      const redactor = new Redactor(action)
      return {
        act: (event) => redacted(event, redactor),
        changesFields: (fields) => redactedFields(fields, redactor) !== fields,
        mayAct: (text) => redactor.mayContain(text),
      }
    }
  }
}

const HASHES = 2 ** 32

/** A number from 0 to 1 that follows from a text or a line, equally distributed, and the same in every process. */
const shareOf = (value: string | Uint8Array): number => hash('sha256', value, 'buffer').readUInt32BE() / HASHES

function redacted<E extends ArrivingEvent>(event: E, redactor: Redactor): E {
  const line = redactor.line(event.line)
  const keys = redactedFields(event.keys, redactor)
  const attributes = redactedFields(event.attributes, redactor)
  const level = event.level === undefined ? undefined : redactor.text(event.level)
  const isSame = line === event.line && keys === event.keys && attributes === event.attributes && level === event.level
  return isSame ? event : { ...event, line, keys, attributes, level }
}

function redactedFields(fields: readonly Field[], redactor: Redactor): readonly Field[] {
  let changed: Field[] | undefined
  for (const [at, [name, text]] of fields.entries()) {
    const value = redactor.text(text)
    if (value === text) continue
    changed ??= [...fields]
    changed[at] = [name, value]
  }
  return changed ?? fields
}
