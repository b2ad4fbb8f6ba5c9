import type { IngestAction, IngestRule } from '@dendro/api'
import { EVERYTHING } from '../../../parts/query/metric-queries.ts'

/** A rule while it is edited. Without datasets in `from` the selector counts. */
export type RuleDraft = {
  readonly name: string
  readonly description: string
  readonly from: readonly string[] | undefined
  readonly selector: string
  readonly where: string
  readonly action: IngestAction
}

export const firstActions: { readonly [Type in IngestAction['type']]: Extract<IngestAction, { type: Type }> } = {
  DROP: { type: 'DROP' },
  SAMPLE: { type: 'SAMPLE', keep: 0.1 },
  TAIL_SAMPLE: { type: 'TAIL_SAMPLE', keep: 0.1, keep_errors: true, slower_than_ms: 1_000, wait_s: 30 },
  ADD_FIELDS: { type: 'ADD_FIELDS', fields: [{ name: '', value: '' }] },
  RENAME_FIELDS: { type: 'RENAME_FIELDS', fields: [{ from: '', to: '' }] },
  REMOVE_FIELDS: { type: 'REMOVE_FIELDS', names: [''] },
  PARSE: { type: 'PARSE', format: 'GROK', pattern: '' },
  SET_TAGS: { type: 'SET_TAGS', tags: {} },
  SET_DATASET: { type: 'SET_DATASET', dataset: '' },
  LOOKUP: { type: 'LOOKUP', table: '', key: '', columns: [] },
  GEOIP: { type: 'GEOIP', key: '', prefix: 'geo.' },
  COUNT: { type: 'COUNT', metric: '', by: [] },
  REDACT: { type: 'REDACT', kinds: ['EMAIL', 'CARD_NUMBER'], expressions: [], replacement: '[REDACTED]' },
}

export const newDraft: RuleDraft = {
  name: '',
  description: '',
  from: undefined,
  selector: EVERYTHING,
  where: '',
  action: firstActions.DROP,
}

export const draftOf = ({ name, description = '', from, from_expr, where, action }: IngestRule): RuleDraft => ({
  name,
  description,
  from,
  selector: from_expr ?? EVERYTHING,
  where,
  action,
})

/** The draft in an address, as links from other pages have it. What is missing or of another type is as in an empty one. */
export function draftFrom({ name, description, from, from_expr, where, action }: Readonly<Record<string, unknown>>): RuleDraft {
  const type = isRecord(action) ? action.type : undefined
  const first = typeof type === 'string' && Object.hasOwn(firstActions, type) ? firstActions[type as IngestAction['type']] : newDraft.action
  return {
    name: textIn(name),
    description: textIn(description),
    from: Array.isArray(from) && from.length > 0 ? from.filter((one) => typeof one === 'string') : undefined,
    selector: textIn(from_expr) || EVERYTHING,
    where: textIn(where),
    action: isRecord(action) ? ({ ...first, ...action, type: first.type } as IngestAction) : first,
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

export const sourceOf = ({ from, selector }: Pick<RuleDraft, 'from' | 'selector'>) =>
  from === undefined ? { from_expr: selector } : { from: [...from] }

export const bodyOf = (draft: RuleDraft) => ({
  name: draft.name.trim(),
  description: draft.description.trim(),
  ...sourceOf(draft),
  where: draft.where,
  action: draft.action,
})

/** What prevents a rule from being saved; undefined when it is complete. */
export const missingIn = ({ name, action }: RuleDraft): string | undefined =>
  missingInAction(action) ?? (name.trim() === '' ? 'a name' : undefined)

/** What an action lacks to be tried on events. */
export function missingInAction(action: IngestAction): string | undefined {
  switch (action.type) {
    case 'REDACT':
      return action.kinds.length === 0 && action.expressions.every(({ pattern }) => pattern === '')
        ? 'a kind of value or an expression'
        : undefined
    case 'ADD_FIELDS':
      return action.fields.some(({ name }) => name === '') ? 'the name of a field' : undefined
    case 'RENAME_FIELDS':
      return action.fields.some(({ from, to }) => from === '' || to === '') ? 'the name of a field' : undefined
    case 'REMOVE_FIELDS':
      return action.names.includes('') ? 'the name of a field' : undefined
    case 'PARSE':
      return action.pattern === '' ? 'a pattern' : undefined
    case 'SET_TAGS':
      return Object.keys(action.tags).length === 0 ? 'a tag' : undefined
    case 'SET_DATASET':
      return action.dataset === '' ? 'a dataset' : undefined
    case 'LOOKUP':
      return action.table === '' ? 'a table' : action.key === '' ? 'a field' : undefined
    case 'GEOIP':
      return action.key === '' ? 'a field' : undefined
    case 'COUNT':
      return action.metric === '' ? 'a metric' : undefined
    default:
      return undefined
  }
}

/** The rules in a new order, in which the one at `from` stands at `to`. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const rest = items.filter((_, at) => at !== from)
  const item = items[from]
  return item === undefined ? [...items] : [...rest.slice(0, to), item, ...rest.slice(to)]
}
