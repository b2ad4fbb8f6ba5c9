import type { IngestAction } from '@dendro/api'
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

const redacting = (redactor: Redactor): RuleAction => ({
  act: (event) => redacted(event, redactor),
  changesFields: (fields) => redactedFields(fields, redactor) !== fields,
  mayAct: redactor.hint,
})

function redacted<E extends ArrivingEvent>(event: E, redactor: Redactor): E {
  const { line, parts: changedParts } = redactor.line(event.line)
  const keys = redactedFields(event.keys, redactor)
  const attributes = redactedFields(event.attributes, redactor)
  const level = event.level === undefined ? undefined : redactor.text(event.level)
  const isSame = line === event.line && keys === event.keys && attributes === event.attributes && level === event.level
  return isSame ? event : { ...event, line, keys, attributes, level, changedParts }
}

function redactedFields(fields: readonly FieldText[], redactor: Redactor): readonly FieldText[] {
  if (fields.length === 0) return fields
  let changed: FieldText[] | undefined
  for (const [at, [name, text]] of fields.entries()) {
    const value = redactor.text(text)
    if (value === text) continue
    changed ??= [...fields]
    changed[at] = [name, value]
  }
  return changed ?? fields
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
