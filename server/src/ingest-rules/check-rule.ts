import type { IngestAction } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { badField } from '../kernel/errors.ts'
import { checkRegex, parseFilter } from '../query/query.ts'

/** The keys that an event has only after it was stored. */
const STORED_KEYS: ReadonlySet<string> = new Set(['@pattern', '@sequence'])

/** Refuses a rule that cannot be applied, with a 400 that names the field. */
export function checkRule({ where, action }: { readonly where: string; readonly action: IngestAction }): void {
  const unknown = keysIn(parseFilter(where, 'where').filter).find((key) => STORED_KEYS.has(key))
  if (unknown !== undefined)
    throw badField('where', `must not use ${unknown}, which an event does not have before it is stored`, 'NOT_YET_KNOWN')
  if (action.type === 'SAMPLE' && action.key !== undefined && STORED_KEYS.has(action.key)) {
    throw badField('action.key', `must not be ${action.key}, which an event does not have before it is stored`, 'NOT_YET_KNOWN')
  }
  if (action.type !== 'REDACT') return
  if (action.kinds.length + action.expressions.length === 0) {
    throw badField('action.kinds', 'or action.expressions must have at least 1 item', 'NOTHING_TO_REDACT')
  }
  for (const [at, { pattern }] of action.expressions.entries()) checkRegex(pattern, `action.expressions.${at}.pattern`)
}

function keysIn(filter: Filter): string[] {
  switch (filter.kind) {
    case 'all':
    case 'contains':
      return []
    case 'and':
    case 'or':
      return filter.of.flatMap(keysIn)
    case 'not':
      return keysIn(filter.of)
    default:
      return [filter.key]
  }
}
