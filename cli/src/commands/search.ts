import { EVENTS_MAX, type SearchResponse, type Series } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import { type Command, Option } from 'commander'
import { type ColorMode, colorModes, painterFor } from '../colors.ts'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { searchCost } from '../cost.ts'
import { csvOf, csvText } from '../csv.ts'
import { openDatasetNames } from '../dataset-names.ts'
import { lineOf } from '../event-line.ts'
import { eventPages } from '../event-pages.ts'
import { columnOf, type EventRecord, recordOf } from '../event-record.ts'
import { explained, placeOf, UsageError } from '../failure.ts'
import { show, showTable, toJson } from '../output.ts'
import {
  addRange,
  addSources,
  collect,
  filterOf,
  groupKeys,
  longerRange,
  type QueryOptions,
  rangeBody,
  sourcesOf,
  wholeNumber,
} from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

type LineOptions = Pick<Settings, 'output'> & { raw?: boolean; refs?: boolean; color?: ColorMode }

type SearchOptions = QueryOptions &
  Settings &
  LineOptions & {
    limit: number
    oldestFirst?: boolean
    columns?: string[]
    select?: string[]
    by?: string[]
    slices?: number
    quiet?: boolean
  }

const LIMIT_MAX = 1_000_000
const EXAMPLES = `
Examples:
  dendro search error                                       # events of the last 15 minutes that contain a word
  dendro search "level = 'error'" -d shop.web -t 2h         # a filter, one dataset, two hours
  dendro search timeout --columns time,level,message,host   # a table
  dendro search -t yesterday --output csv > events.csv      # also json and ndjson
  dendro search -t 1d --select 'count(*)' --by level        # values by group

The query is a filter of the query language. A single word that is also the name of a subcommand needs quotes for it: dendro search "'run'".
The cost of the query goes to standard error.`

/** `dendro search`: events, or values by group. */
export function addSearch(command: Command, terminal: Terminal, globals: () => Settings): Command {
  command
    .description('Search events, or compute values by group.')
    .enablePositionalOptions()
    .argument('[query...]', 'the filter; every event when absent')
    .option('--where <filter>', 'the filter, instead of the words')
  addRange(addSources(command))
    .addOption(new Option('-n, --limit <number>', 'maximum number of events or groups').argParser(wholeNumber(1, LIMIT_MAX)).default(100))
    .option('--oldest-first', 'begin with the oldest event')
    .addOption(
      new Option('--columns <names>', 'a table of these columns: time, level, message, dataset, ref, or fields').argParser(namesOf),
    )
    .addOption(new Option('--select <aggregate>', "a value such as 'count(*)' or 'p95(ms)'; may be repeated").argParser(collect))
    .addOption(new Option('--by <fields>', 'groups for the values').argParser(namesOf))
    .addOption(new Option('--slices <number>', 'divides the range into time slices').argParser(wholeNumber(1, 1_440)))
  addLineOptions(command).option('-q, --quiet', 'do not print the cost')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: SearchOptions) => {
    const settings = { ...globals(), ...options }
    checkOptions(settings)
    const client = await connect(settings, terminal, 'credential')
    if (settings.select || settings.by || settings.slices) await searchValues(client, words, settings, terminal)
    else await searchEvents(client, words, settings, terminal)
  })
}

/** Refuses options that would have no effect. */
function checkOptions(options: SearchOptions): void {
  const { columns, oldestFirst } = options
  const value = options.select ? '--select' : options.by ? '--by' : options.slices ? '--slices' : undefined
  if (value && columns) throw new UsageError(`${value} excludes --columns`)
  if (value && oldestFirst) throw new UsageError(`${value} excludes --oldest-first`)
  checkLineOptions(options, value ?? (columns ? '--columns' : undefined))
}

/** `--raw` and `--refs` are for lines of text. */
export function checkLineOptions({ raw, refs, output = 'table' }: LineOptions, other?: string): void {
  const flag = raw ? '--raw' : refs ? '--refs' : undefined
  const reason = output === 'table' ? other : `--output ${output}`
  if (flag && reason) throw new UsageError(`${reason} excludes ${flag}`)
}

export const addLineOptions = (command: Command): Command =>
  command
    .option('--raw', 'the lines as received')
    .option('--refs', 'add the reference of each event, for dendro context and dendro explain error')
    .addOption(new Option('--color <when>', 'colors').choices(colorModes).default('auto'))

export const namesOf = (list: string, before: unknown): string[] => [
  ...(Array.isArray(before) ? before.map(String) : []),
  ...list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== ''),
]

/** Prints warnings of a response with their places. */
export function showWarnings({ warnings = [] }: Pick<SearchResponse, 'warnings'>, sent: object, terminal: Terminal): void {
  for (const warning of warnings) {
    const hint = warning.hint === undefined ? '' : `: ${warning.hint}`
    terminal.err(`dendro: warning: ${warning.field}: ${warning.message}${hint}`)
    for (const line of placeOf(warning, sent)) terminal.err(line)
  }
}

async function searchEvents(client: CliClient, words: readonly string[], options: SearchOptions, terminal: Terminal): Promise<void> {
  const { output = 'table', columns, oldestFirst = false } = options
  const body = {
    ...sourcesOf(options),
    ...rangeBody(options, Date.now()),
    ...filterOf(words, options),
    select: ['*', '@raw'],
    most_recent_first: !oldestFirst,
  }
  const names = openDatasetNames(client)
  const style = {
    paint: painterFor(terminal, options.color),
    zone: options.zone ?? 'utc',
    withDataset: options.dataset?.length !== 1,
    withRef: options.refs === true,
    fields: undefined,
    raw: options.raw === true,
  }
  // A table and CSV need all events to know their columns; the other formats are written page by page.
  const isGathered = output === 'csv' || (output === 'table' && columns !== undefined)
  const gathered: EventRecord[] = []
  let [cost, written] = ['', 0]
  for await (const page of eventPages(client, body, options.limit, terminal.signal)) {
    if (written === 0 && cost === '') showWarnings(page, body, terminal)
    cost ||= searchCost(page)
    for (const event of page.events) {
      const record = await recordOf(event, names)
      const chosen = columns ? Object.fromEntries(columns.map((name) => [name, columnOf(record, name)])) : record
      if (isGathered) gathered.push(chosen as EventRecord)
      else if (output === 'table') await terminal.write(`${lineOf(record, style)}\n`)
      else if (output === 'ndjson') await terminal.write(`${toJson(chosen)}\n`)
      else await terminal.write(`${written === 0 ? '[' : ','}\n${toJson(chosen)}`)
      written += 1
    }
  }
  if (output === 'json') await terminal.write(written === 0 ? '[]\n' : '\n]\n')
  if (output === 'csv') for (const line of csvOf(gathered, columns)) await terminal.write(csvText(line, terminal))
  if (output === 'table' && columns) showTable(gathered, terminal)
  if (written === 0 && output === 'table' && !columns) {
    const longer = longerRange(options, Date.now())
    terminal.err(`No events match.${longer === undefined ? '' : ` A longer range: --range ${longer}`}`)
  }
  if (!options.quiet) terminal.err(cost)
}

async function searchValues(client: CliClient, words: readonly string[], options: SearchOptions, terminal: Terminal): Promise<void> {
  const { select = ['count(*)'], by = [], slices, output = 'table' } = options
  if (by.length > 0 && slices !== undefined) throw new UsageError('--slices excludes --by')
  if (options.limit > EVENTS_MAX) throw new UsageError(`--limit is at most ${EVENTS_MAX} for groups`)
  const body = {
    ...sourcesOf(options),
    ...rangeBody(options, Date.now()),
    ...filterOf(words, options),
    select,
    ...(by.length > 0 ? { groups: by.flatMap(groupKeys).map(printKey) } : {}),
    ...(slices === undefined ? {} : { num_of_slices: slices }),
    limit: options.limit,
  }
  const answer = await explained(body, client.search.run({ body, repeatable: true, signal: terminal.signal }))
  showWarnings(answer, body, terminal)
  const rows =
    by.length > 0
      ? answer.groups_series.flatMap((series) => groupRows(series, select))
      : slices === undefined
        ? [Object.fromEntries(select.map((item) => [item, (answer.totals as Record<string, unknown>)[item] ?? null]))]
        : answer.result.map((row, slice) => sliceRow(row, select, answer.totals.timeseries?.[slice]))
  show(rows, output, terminal)
  if (!options.quiet) terminal.err(searchCost(answer))
}

type Slice = Pick<Series['timeseries'][number], 'count' | 'no_value'>

/** Aggregates that are 0 without events. All others have no value then. */
const ADDS_UP = /^\s*(?:count|sum|rate|unique|uniq|count_distinct)\b/i

/** The row of a slice. The service writes 0 where no event has a value. */
export function sliceRow(row: Record<string, unknown>, select: readonly string[], slice: Slice | undefined): Record<string, unknown> {
  const isEmpty = (item: string, index: number): boolean =>
    !ADDS_UP.test(item) && slice !== undefined && (Number(slice.count) === 0 || (index === 0 && slice.no_value === true))
  const values = select.map((item, index) => [item, isEmpty(item, index) ? null : (row[item] ?? null)] as const)
  return { '@time': row['@time'] ?? null, ...Object.fromEntries(values) }
}

/** One row per innermost group: its keys and values. */
export function groupRows(series: Series, select: readonly string[], keys: Record<string, string> = {}): Record<string, unknown>[] {
  const own = series.key === undefined ? keys : { ...keys, [series.key]: series.name }
  if (series.groups_series && series.groups_series.length > 0)
    return (series.groups_series as Series[]).flatMap((inner) => groupRows(inner, select, own))
  const only = series.no_value ? null : series.value
  const values = select.map((item, index) => [item, series.aggregates ? (series.aggregates[index]?.value ?? null) : only] as const)
  return [{ ...own, ...Object.fromEntries(values) }]
}
