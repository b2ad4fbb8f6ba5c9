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
  piecesOf,
  replicatedSettings,
  SHARD_KEY,
  SORT_KEY,
  type TableClass,
  tableClassNames,
  tableSettings,
  tokensOf,
  WRONG_PIECES,
  WRONG_WORDS,
} from '../../lines/table.ts'
import type { StoreAddress } from './address.ts'

type Target = Pick<StoreAddress, 'database' | 'cluster'>

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
 * - `events <class>`, `partition key`, `sort key`, `minute`, `counted columns`, `settings`: from table.ts
 */
export function statements(file: string, target: Target): string[] {
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

function fill([first = '', second = '', third = '']: readonly string[], target: Target): string {
  const { cluster } = target
  switch (`${first} ${second}`) {
    case 'on cluster':
      return cluster === undefined ? '' : `on cluster '${cluster}'`
    case 'engine sharded':
      return engine(third, '{shard}', '{replica}', target)
    case 'engine everywhere':
      return engine(third, 'everywhere', '{shard}-{replica}', target)
    case 'replacing everywhere':
      return replacing(engine(third, 'everywhere', '{shard}-{replica}', target))
    case 'partition key':
      return PARTITION_KEY
    case 'sort key':
      return SORT_KEY
    case 'minute ':
      return MINUTE_OF_EVENT
    case 'counted columns':
      return countedColumns.join(', ')
    case 'late indexes':
      return lateIndexes.join(',')
    case 'distinct parts':
      return `${DISTINCT_PARTS} type set(${PART_LISTS_MAX})`
    case 'settings ':
      return settings(cluster)
    default:
      return fillWithName(first, second, target)
  }
}

function fillWithName(word: string, name: string, target: Target): string {
  switch (word) {
    case 'local':
      return localTable(name, target.cluster)
    case 'distributed':
      return distributed(name, target)
    case 'events':
      return eventsBody(name)
    case 'longest':
      return longestWordOf(classOf(name))
    case 'pieces':
      return `${piecesOf(classOf(name))} type bloom_filter(${WRONG_PIECES})`
    default:
      throw new Error(`a migration has an unknown placeholder: {{${word} ${name}}}`)
  }
}

function engine(table: string, shard: string, replica: string, { cluster, database }: Target): string {
  return cluster === undefined ? 'MergeTree' : `ReplicatedMergeTree('/clickhouse/tables/${shard}/${database}/${table}', '${replica}')`
}

/** Turns an engine into the variant that keeps the highest version of each sort key. */
const replacing = (plain: string): string =>
  plain.endsWith(')') ? plain.replace('MergeTree', 'ReplacingMergeTree').replace(/\)$/, ', version)') : 'ReplacingMergeTree(version)'

function distributed(table: string, { cluster, database }: Target): string {
  if (cluster === undefined) return ''
  const local = localTable(table, cluster)
  return `create table if not exists ${table} on cluster '${cluster}' as ${local}
engine = Distributed('${cluster}', '${database}', '${local}', ${SHARD_KEY})`
}

function settings(cluster: string | undefined): string {
  const all = cluster === undefined ? tableSettings : { ...tableSettings, ...replicatedSettings }
  return Object.entries(all)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ')
}

function eventsBody(name: string): string {
  const tableClass = classOf(name)
  const lines = columns(tableClass).map((column) => `  ${column.name} ${column.type} codec(${column.codec})`)
  return `\n${[...lines, `  index tok ${tokensOf(tableClass)} type bloom_filter(${WRONG_WORDS}) granularity 1`].join(',\n')}\n`
}

function classOf(name: string): TableClass {
  const tableClass = tableClassNames.find((known): known is TableClass => known === name)
  if (!tableClass) throw new Error(`a migration names an unknown table class: ${name}`)
  return tableClass
}
