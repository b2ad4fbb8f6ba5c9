import type { IngestAction } from '@dendro/api'
import { Recent } from '../kernel/recent.ts'
import { messageKeys } from '../lines/reference/event.ts'
import { compilePattern } from '../parsers/parsers.ts'
import { keyReader, type MatchableEvent } from '../query/matchable-event.ts'
import { addressIn } from './address-databases.ts'
import type { ArrivingEvent, FieldText } from './arriving-event.ts'
import { withFields, withoutField, withRenamed, withTags } from './event-fields.ts'
import type { Hint } from './hints.ts'
import { findRow } from './lookup-table.ts'
import { Redactor } from './redactor.ts'
import type { RuleRun } from './rule-run.ts'
import { shareOf } from './share.ts'
import { traceIdOf } from './trace-facts.ts'

/** What a rule does to the events that match its filter. */
export type RuleAction = {
  /** Undefined drops the event. The same event means that the rule leaves it as it is. */
  readonly act: <E extends ArrivingEvent>(event: E, matchable: () => MatchableEvent, run: RuleRun, ruleId: string) => E | undefined
  /** True for a rule that acts on each matching event, although it leaves it as it is. */
  readonly isCounting?: true
  /** False for fields that the rule leaves as they are in every event. Undefined for a rule that never changes fields. */
  readonly changesFields?: (fields: readonly FieldText[]) => boolean
  /** False for texts with which the rule does nothing; undefined when it may act on any event. */
  readonly mayAct?: Hint
}

type ActionOf<Type extends IngestAction['type']> = Extract<IngestAction, { type: Type }>

export function actionOf(action: IngestAction): RuleAction {
  switch (action.type) {
    case 'DROP':
      return { act: () => undefined }
    case 'SAMPLE':
      return sampling(action)
    case 'TAIL_SAMPLE':
      return { act: (event) => (traceIdOf(event.attributes) === undefined ? event : { ...event, waitsFor: action }) }
    case 'REDACT':
      return redacting(new Redactor(action))
    case 'ADD_FIELDS': {
      const fields = action.fields.map(({ name, value }): FieldText => [name, value])
      return { act: (event) => withFields(event, fields) }
    }
    case 'RENAME_FIELDS': {
      const { fields } = action
      return {
        act: (event) => fields.reduce((renamed, { from, to }) => withRenamed(renamed, from, to), event),
        changesFields: hasAny(fields.flatMap(({ from, to }) => [from, to])),
      }
    }
    case 'REMOVE_FIELDS': {
      const { names } = action
      return { act: (event) => names.reduce((left, name) => withoutField(left, name), event), changesFields: hasAny(names) }
    }
    case 'PARSE':
      return parsing(action)
    case 'SET_TAGS': {
      const tags = Object.entries(action.tags).map(([name, value]): FieldText => [`$${name}`, value])
      return { act: (event) => withTags(event, tags), changesFields: hasAny(tags.map(([name]) => name)) }
    }
    case 'SET_DATASET':
      return moving(action)
    case 'LOOKUP':
      return addingRow(action)
    case 'GEOIP':
      return locating(action)
    case 'COUNT':
      return counting(action)
  }
}

function sampling({ keep, key }: ActionOf<'SAMPLE'>): RuleAction {
  const read = key === undefined ? undefined : keyReader(key)
  return { act: (event, matchable) => (shareOf(read?.(matchable()) ?? event.line) < keep ? event : undefined) }
}

const NAMES_MAX = 1_024

function redacting(redactor: Redactor): RuleAction {
  const redactions: Redactions = { redactor, names: new Recent(NAMES_MAX) }
  return {
    act: (event) => redacted(event, redactions),
    changesFields: (fields) => redactedFields(fields, redactions) !== fields,
    mayAct: redactor.hint,
  }
}

/** A redactor, and the names of fields that it has read: the same ones come again. */
type Redactions = { readonly redactor: Redactor; readonly names: Recent<string, string> }

function redacted<E extends ArrivingEvent>(event: E, redactions: Redactions): E {
  const { redactor } = redactions
  const { line, parts: changedParts } = redactor.line(event.line)
  const keys = redactedFields(event.keys, redactions)
  const attributes = redactedFields(event.attributes, redactions)
  const level = event.level === undefined ? undefined : redactor.text(event.level)
  const isSame = line === event.line && keys === event.keys && attributes === event.attributes && level === event.level
  return isSame ? event : { ...event, line, keys, attributes, level, changedParts }
}

/** Names that join spans and lines to traces, which a loose expression must not cut. */
const TRACE_NAME = /^(?:\$span\.[a-z_]+|trace_id|span_id)$/
const ATTRIBUTE = '$'
const REDACTED_NAME = '[REDACTED]'

function redactedFields(fields: readonly FieldText[], { redactor, names }: Redactions): readonly FieldText[] {
  let changed: FieldText[] | undefined
  let isRenamed = false
  for (const [at, field] of fields.entries()) {
    const [name, text] = [names.of(field[0], () => redactedName(field[0], redactor)), redactor.text(field[1])]
    if (name === field[0] && text === field[1]) continue
    isRenamed ||= name !== field[0]
    changed ??= [...fields]
    changed[at] = [name, text]
  }
  // Of fields that have one name now the last one counts, as in a JSON line.
  return isRenamed ? [...new Map(changed)] : (changed ?? fields)
}

function redactedName(name: string, redactor: Redactor): string {
  if (TRACE_NAME.test(name)) return name
  const start = name.startsWith(ATTRIBUTE) ? ATTRIBUTE : ''
  return start + (redactor.text(name.slice(start.length)) || REDACTED_NAME)
}

const JSON_LINE = /^\s*\{/

/** Adds what a pattern finds. What a JSON line says itself, and what stands beside any line, takes precedence. */
function parsing({ format, pattern, key }: ActionOf<'PARSE'>): RuleAction {
  const parser = compilePattern(format, pattern)
  const read = key === undefined ? undefined : keyReader(key)
  return {
    act: (event, matchable, { time }) => {
      const arrived = matchable()
      const isJson = JSON_LINE.test(arrived.raw)
      const text = read ? read(arrived) : isJson ? messageOf(arrived) : arrived.raw
      const found = text === undefined ? undefined : time.parsing.read(parser, text)
      if (found?.kind !== 'match') return event
      const extra = new Set(event.keys.map(([name]) => name))
      const isNew = ([name]: FieldText): boolean =>
        !/^[@$]/.test(name) && !extra.has(name) && !(isJson && arrived.leaves.get(name) !== undefined)
      return withFields(event, found.pairs.filter(isNew))
    },
  }
}

const messageOf = ({ leaves }: MatchableEvent): string | undefined => {
  for (const key of messageKeys) {
    const text = leaves.get(key)
    if (text !== undefined) return text
  }
  return undefined
}

function moving({ collection, dataset }: ActionOf<'SET_DATASET'>): RuleAction {
  return {
    act: (event, matchable) => {
      const from = matchable()
      const to = { collection: collection ?? from.collection, dataset }
      return to.collection === from.collection && to.dataset === from.dataset ? event : { ...event, movedTo: to }
    },
  }
}

function addingRow({ table: name, key, columns, prefix = '' }: ActionOf<'LOOKUP'>): RuleAction {
  const read = keyReader(key)
  return {
    act: (event, matchable, { tables }) => {
      const table = tables.get(name)
      const text = table && read(matchable())
      const row = table && text !== undefined ? findRow(table, text) : undefined
      if (!table || !row) return event
      const isWanted = (column: string, at: number): boolean => (columns.length === 0 ? at !== table.key : columns.includes(column))
      const isGiven = (column: string, at: number): boolean => isWanted(column, at) && row[at] !== ''
      return withFields(
        event,
        table.columns.flatMap((column, at) => (isGiven(column, at) ? [[prefix + column, row[at] ?? ''] as const] : [])),
      )
    },
  }
}

function locating({ key, prefix }: ActionOf<'GEOIP'>): RuleAction {
  const read = keyReader(key)
  return {
    act: (event, matchable, { addresses }) => {
      const address = addressIn(read(matchable()) ?? '')
      if (address === undefined) return event
      const found = addresses.flatMap(({ find }) => find(address))
      return withFields(
        event,
        found.map(([name, text]) => [prefix + name, text] as const),
      )
    },
  }
}

function counting({ metric, by }: ActionOf<'COUNT'>): RuleAction {
  const readers = by.map(keyReader)
  return {
    isCounting: true,
    act: (event, matchable, { counts }, ruleId) => {
      counts.add(
        ruleId,
        { metric, by },
        readers.map((read) => read(matchable())),
      )
      return event
    },
  }
}

const hasAny =
  (names: readonly string[]) =>
  (fields: readonly FieldText[]): boolean =>
    fields.some(([field]) => names.some((name) => field === name || field.startsWith(`${name}.`)))
