import {
  columns,
  countedColumns,
  DISTINCT_PARTS,
  lateIndexes,
  localTable,
  longestWordOf,
  MINUTE_OF_EVENT,
  PART_LISTS_MAX,
  PARTITION_KEY,
  PATTERN_COUNTS,
  PATTERN_PRIMARY_KEY,
  PATTERN_SORT_KEY,
  patternColumns,
  piecesOf,
  replicatedSettings,
  SORT_KEY,
  type TableClass,
  type TableColumn,
  tableClassNames,
  tableSettings,
  tokensOf,
  WRONG_PIECES,
  WRONG_WORDS,
} from '../../lines/layout/table.ts'
import { type ClusterTarget, distributedTable, onEveryNode, tableEngine } from './cluster-statements.ts'

/**
 * Renders the statements of a migration file for one server or for a cluster. A placeholder is `{{words}}`:
 * - `on cluster`: nothing, or the clause that runs the statement on every node
 * - `local <table>`: the name of the table that holds the rows
 * - `engine sharded <table>`, `engine everywhere <table>`: rows spread over the shards, or all rows on every node
 * - `replacing everywhere <table>`: the same, but of rows with one sort key only the one with the highest `version` stays
 * - `distributed <table>`: a whole statement that creates the table that reads all shards; nothing on one server
 * - `late indexes`: their names, with commas
 * - `longest <class>`: the expression of the index of longest words, from table.ts
 * - `pieces <class>`: the expression and the type of the index of pieces of long words
 * - `distinct parts`: the expression and the type of the index of the parts of a granule
 * - `pattern events <class>`: the columns, indexes and projection of a table that is sorted by pattern
 * - `pattern sort key`, `pattern primary key`: from table.ts
 * - `pattern counts`: the definition of the projection, from table.ts
 * - `events <class>`, `partition key`, `sort key`, `minute`, `counted columns`, `settings`: from table.ts
 */
export function statements(file: string, target: ClusterTarget): string[] {
  return file
    .replace(/^--.*$/gm, '')
    .replace(/\{\{([^}]+)\}\}/g, (_, words: string) => fill(words.trim().split(/\s+/), target))
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

const ALTER = /^alter table (\S+)\s+(.*)$/s

/**
 * Joins the changes of each table into few statements, in their order. Tables are created before, and anything else comes after the changes
 * that precede it. A change of settings ends a statement, because the engine would take what follows for another setting.
 */
export function joinAlters(all: readonly string[]): string[] {
  const joined: string[] = []
  const changes = new Map<string, string[]>()
  const flush = (table: string) => {
    joined.push(`alter table ${table} ${changes.get(table)?.join(',\n')}`)
    changes.delete(table)
  }
  for (const statement of all) {
    const [, table, change] = ALTER.exec(statement) ?? []
    if (table === undefined || change === undefined) {
      if (!statement.startsWith('create table')) for (const altered of [...changes.keys()]) flush(altered)
      joined.push(statement)
      continue
    }
    changes.set(table, [...(changes.get(table) ?? []), change])
    if (change.includes('modify setting')) flush(table)
  }
  for (const altered of [...changes.keys()]) flush(altered)
  return joined
}

function fill([first = '', second = '', third = '']: readonly string[], target: ClusterTarget): string {
  const { cluster } = target
  switch (`${first} ${second}`) {
    case 'on cluster':
      return onEveryNode(cluster).trimStart()
    case 'engine sharded':
      return tableEngine(third, 'sharded', target)
    case 'engine everywhere':
      return tableEngine(third, 'everywhere', target)
    case 'replacing everywhere':
      return replacing(tableEngine(third, 'everywhere', target))
    case 'partition key':
      return PARTITION_KEY
    case 'sort key':
      return SORT_KEY
    case 'pattern sort':
      return PATTERN_SORT_KEY
    case 'pattern primary':
      return PATTERN_PRIMARY_KEY
    case 'pattern counts':
      return PATTERN_COUNTS
    case 'pattern events':
      return patternEventsBody(classOf(third))
    case 'minute ':
      return MINUTE_OF_EVENT
    case 'counted columns':
      return countedColumns.join(', ')
    case 'late indexes':
      return lateIndexes.join(',')
    case 'distinct parts':
      return DISTINCT_PARTS_INDEX
    case 'settings ':
      return settings(cluster)
    default:
      return fillWithName(first, second, target)
  }
}

function fillWithName(word: string, name: string, target: ClusterTarget): string {
  switch (word) {
    case 'local':
      return localTable(name, target.cluster)
    case 'distributed':
      return distributedTable(name, target)
    case 'events':
      return eventsBody(name)
    case 'longest':
      return longestWordOf(classOf(name))
    case 'pieces':
      return piecesIndex(classOf(name))
    default:
      throw new Error(`a migration has an unknown placeholder: {{${word} ${name}}}`)
  }
}

/** Turns an engine into the variant that keeps the highest version of each sort key. */
const replacing = (plain: string): string =>
  plain.endsWith(')') ? plain.replace('MergeTree', 'ReplacingMergeTree').replace(/\)$/, ', version)') : 'ReplacingMergeTree(version)'

function settings(cluster: string | undefined): string {
  const all = cluster === undefined ? tableSettings : { ...tableSettings, ...replicatedSettings }
  return Object.entries(all)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')
}

const piecesIndex = (tableClass: TableClass): string => `${piecesOf(tableClass)} type bloom_filter(${WRONG_PIECES})`

const DISTINCT_PARTS_INDEX = `${DISTINCT_PARTS} type set(${PART_LISTS_MAX})`

const columnsIn = (all: readonly TableColumn[]): string[] => all.map(({ name, type, codec }) => `${name} ${type} codec(${codec})`)

const wordsIndex = (tableClass: TableClass): string => `index tok ${tokensOf(tableClass)} type bloom_filter(${WRONG_WORDS}) granularity 1`

const bodyOf = (lines: readonly string[]): string => `\n${lines.map((line) => `  ${line}`).join(',\n')}\n`

function eventsBody(name: string): string {
  const tableClass = classOf(name)
  return bodyOf([...columnsIn(columns(tableClass)), wordsIndex(tableClass)])
}

function patternEventsBody(tableClass: TableClass): string {
  const counted = `org_id, log_id, ${MINUTE_OF_EVENT}, ${countedColumns.join(', ')}`
  return bodyOf([
    ...columnsIn(patternColumns(tableClass)),
    wordsIndex(tableClass),
    'index seq_bounds seq type minmax granularity 1',
    'index strays length(more) type minmax granularity 1',
    `index longest ${longestWordOf(tableClass)} type minmax granularity 1`,
    'index names mapKeys(more) type bloom_filter(0.01) granularity 1',
    `index pieces ${piecesIndex(tableClass)} granularity 1`,
    `index distinct_parts ${DISTINCT_PARTS_INDEX} granularity 1`,
    `projection minute_counts (select ${counted}, count() group by ${counted})`,
  ])
}

function classOf(name: string): TableClass {
  const tableClass = tableClassNames.find((known): known is TableClass => known === name)
  if (!tableClass) throw new Error(`a migration names an unknown table class: ${name}`)
  return tableClass
}
