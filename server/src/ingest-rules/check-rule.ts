import type { IngestAction, Tags } from '@dendro/api'
import { ARRIVAL_KEY } from '@dendro/language/instant'
import { badField, Failure } from '../kernel/errors.ts'
import { compilePattern } from '../parsers/parsers.ts'
import { conditionsIn } from '../query/conditions.ts'
import { checkRegex, parseFilter } from '../query/query.ts'
import { PATTERN_KEY } from './pattern-filter.ts'

/** The keys that an event has only after it was stored. Filters may compare the pattern with ids. */
const STORED_KEYS: ReadonlySet<string> = new Set([PATTERN_KEY, '@sequence', ARRIVAL_KEY])

/** Refuses a rule that cannot be applied, with a 400 that names the field. */
export function checkRule({ where, action }: { readonly where: string; readonly action: IngestAction }): void {
  const unknown = conditionsIn(parseFilter(where, 'where').filter)
    .flatMap((condition) => (condition.kind === 'contains' ? [] : [condition.key]))
    .find((key) => key !== PATTERN_KEY && STORED_KEYS.has(key))
  if (unknown !== undefined)
    throw badField('where', `must not use ${unknown}, which an event does not have before it is stored`, 'NOT_YET_KNOWN')
  checkAction(action)
}

function checkAction(action: IngestAction): void {
  switch (action.type) {
    case 'SAMPLE':
      checkReadable(action.key, 'action.key')
      return
    case 'REDACT':
      if (action.kinds.length + action.expressions.length === 0) {
        throw badField('action.kinds', 'or action.expressions must have at least 1 item', 'NOTHING_TO_REDACT')
      }
      for (const [at, { pattern }] of action.expressions.entries()) checkRegex(pattern, `action.expressions.${at}.pattern`)
      return
    case 'ADD_FIELDS':
      for (const [at, { name }] of action.fields.entries()) checkNewName(name, `action.fields.${at}.name`)
      return
    case 'RENAME_FIELDS':
      for (const [at, { from, to }] of action.fields.entries()) {
        checkOldName(from, `action.fields.${at}.from`)
        checkNewName(to, `action.fields.${at}.to`)
      }
      return
    case 'REMOVE_FIELDS':
      for (const [at, name] of action.names.entries()) checkOldName(name, `action.names.${at}`)
      return
    case 'PARSE':
      checkParser(action)
      return
    case 'SET_TAGS':
      checkTags(action.tags)
      return
    case 'LOOKUP':
      checkReadable(action.key, 'action.key')
      if (action.prefix) checkNewName(action.prefix, 'action.prefix')
      return
    case 'GEOIP':
      checkReadable(action.key, 'action.key')
      checkNewName(action.prefix, 'action.prefix')
      return
    case 'COUNT':
      for (const [at, key] of action.by.entries()) {
        checkReadable(key, `action.by.${at}`)
        if (key === 'metric' || key === 'count')
          throw badField(`action.by.${at}`, `must not be ${key}, which the counts have themselves`, 'RESERVED')
      }
  }
}

function checkParser({ format, pattern, key }: Extract<IngestAction, { type: 'PARSE' }>): void {
  checkReadable(key, 'action.key')
  try {
    compilePattern(format, pattern)
  } catch (thrown) {
    if (thrown instanceof Failure) throw badField('action.pattern', thrown.message.replace(/^pattern /, ''), 'BAD_PATTERN')
    throw thrown
  }
}

function checkReadable(key: string | undefined, field: string): void {
  if (key === undefined || !STORED_KEYS.has(key)) return
  throw badField(field, `must not be ${key}, which an event does not have before it is stored`, 'NOT_YET_KNOWN')
}

function checkTags(tags: Tags): void {
  const names = Object.keys(tags)
  if (names.length === 0) throw badField('action.tags', 'must have at least 1 entry', 'NO_TAGS')
  const reserved = names.find((name) => /^[@$]|^ingest\./.test(name))
  if (reserved !== undefined) throw badField('action.tags', `must not name ${reserved}, which the service sets itself`, 'RESERVED')
}

/** Names that begin with @ are computed from an event, and those with $ are attributes, which are set as tags. */
function checkNewName(name: string, field: string): void {
  if (/^[@$]/.test(name) || name.includes('\\')) throw badField(field, 'must not begin with @ or $, and not contain \\', 'RESERVED')
}

function checkOldName(name: string, field: string): void {
  if (name.startsWith('@')) throw badField(field, 'must not begin with @: such keys are computed from the event', 'RESERVED')
}
