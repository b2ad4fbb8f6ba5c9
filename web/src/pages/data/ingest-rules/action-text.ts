import type { IngestAction } from '@dendro/api'

export const actionNames: { readonly [Type in IngestAction['type']]: string } = {
  DROP: 'Drop',
  SAMPLE: 'Sample',
  TAIL_SAMPLE: 'Sample whole traces',
  REDACT: 'Redact',
  ADD_FIELDS: 'Add fields',
  RENAME_FIELDS: 'Rename fields',
  REMOVE_FIELDS: 'Remove fields',
  PARSE: 'Parse',
  SET_TAGS: 'Set tags',
  SET_DATASET: 'Move to another dataset',
  LOOKUP: 'Look up in a table',
  GEOIP: 'Add where an address is',
  COUNT: 'Count into a metric',
}

export const kindNames = {
  CARD_NUMBER: 'card numbers',
  EMAIL: 'e-mail addresses',
  TOKEN: 'tokens',
  SECRET_KEY: 'secret keys',
} as const

/** What a rule does, as a sentence without its subject. */
export function actionText(action: IngestAction): string {
  switch (action.type) {
    case 'DROP':
      return 'Drops events'
    case 'SAMPLE':
      return `Keeps ${percentText(action.keep)} of events${action.key === undefined ? '' : `, all or none with the same ${action.key}`}`
    case 'TAIL_SAMPLE':
      return `Keeps ${listText([...(action.keep_errors ? ['failed traces'] : []), ...slowText(action.slower_than_ms), `${percentText(action.keep)} of ${action.keep_errors || action.slower_than_ms !== undefined ? 'the others' : 'traces'}`])}`
    case 'ADD_FIELDS':
      return `Adds ${listText(action.fields.map(({ name, value }) => `${name} = ${value}`))}`
    case 'RENAME_FIELDS':
      return `Renames ${listText(action.fields.map(({ from, to }) => `${from} to ${to}`))}`
    case 'REMOVE_FIELDS':
      return `Removes ${listText(action.names)}`
    case 'PARSE':
      return `Adds fields that a ${action.format === 'GROK' ? 'grok' : 'dissect'} pattern finds in ${action.key ?? 'the message'}`
    case 'SET_TAGS':
      return `Sets ${listText(Object.entries(action.tags).map(([name, value]) => `${name} = ${value}`))}`
    case 'SET_DATASET':
      return `Moves events to ${action.collection === undefined ? '' : `${action.collection}.`}${action.dataset}`
    case 'LOOKUP':
      return `Adds ${action.columns.length === 0 ? 'all columns' : listText(action.columns)} of the table ${action.table} by ${action.key}`
    case 'GEOIP':
      return `Adds where the address in ${action.key} is, as ${action.prefix}country and others`
    case 'COUNT':
      return `Counts events into the metric ${action.metric}${action.by.length === 0 ? '' : ` by ${listText(action.by)}`}`
    case 'REDACT':
      return `Redacts ${listText([...action.kinds.map((kind) => kindNames[kind]), ...expressionsText(action.expressions.length)])}`
  }
}

const slowText = (ms: number | undefined): string[] => (ms === undefined ? [] : [`those of ${ms} ms and more`])

const expressionsText = (number: number): string[] => (number === 0 ? [] : [number === 1 ? '1 expression' : `${number} expressions`])

const listText = (items: readonly string[]): string =>
  items.length < 2 ? (items[0] ?? 'nothing') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`

/** A share from 0 to 1 with at most three digits. */
export const percentText = (share: number): string => `${Number((100 * share).toPrecision(3))} %`
