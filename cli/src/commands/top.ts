import { EVENTS_MAX } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import { Command, Option } from 'commander'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { countText, searchCost } from '../cost.ts'
import { explained, UsageError } from '../failure.ts'
import { show, showTable } from '../output.ts'
import {
  addRange,
  addSources,
  filterOf,
  groupKeys,
  type QueryOptions,
  rangeBody,
  selectorOf,
  sourcesOf,
  wholeNumber,
} from '../query-options.ts'
import type { Terminal } from '../terminal.ts'
import { groupRows, showWarnings } from './search.ts'

type TopOptions = QueryOptions & Settings & { limit: number }

const VALUES_SHOWN = 5
const EXAMPLES = `
Examples:
  dendro top -d shop.web                       # the fields of the events, with their most frequent values
  dendro top status -t 1h                      # the most frequent values of a field
  dendro top host "level = 'error'" -n 5       # among matching events`

/** `dendro top`: the most frequent fields, or the most frequent values of a field. */
export function topCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('top')
    .description('List the most frequent fields, or the most frequent values of a field.')
    .argument('[field]', 'the field whose values are counted')
    .argument('[query...]', 'the filter of the events')
    .option('--where <filter>', 'the filter, instead of the words')
  addRange(addSources(command)).addOption(
    new Option('-n, --limit <number>', 'maximum number of rows').argParser(wholeNumber(1, EVENTS_MAX)).default(20),
  )
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (field: string | undefined, words: string[], options: TopOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    if (field === undefined) await topFields(client, settings, terminal)
    else await topValues(client, field, words, settings, terminal)
  })
}

type FieldCount = { type: string; count: number; values: Map<string, number> }

async function topFields(client: CliClient, options: TopOptions, terminal: Terminal): Promise<void> {
  if (options.where !== undefined) throw new UsageError('--where needs a field; fields are counted in a sample of all events')
  const query = {
    from_expr: options.fromExpr ?? (options.dataset ? selectorOf(options.dataset) : '*'),
    ...rangeBody(options, Date.now()),
    limit: Math.min(1_000, options.limit),
  }
  const answer = await explained(query, client.topKeys.get({ query, signal: terminal.signal }))
  const fields = new Map<string, FieldCount>()
  for (const [name, { type, rank, values }] of Object.values(answer).flatMap((keys) => Object.entries(keys))) {
    const known = fields.get(name) ?? { type, count: 0, values: new Map<string, number>() }
    for (const one of Object.values(values)) known.values.set(one.value, (known.values.get(one.value) ?? 0) + one.rank)
    fields.set(name, { ...known, count: known.count + rank })
  }
  const rows = [...fields]
    .sort(([, one], [, other]) => other.count - one.count)
    .slice(0, options.limit)
    .map(([field, { type, count, values }]) => ({
      field,
      type: type.toLowerCase(),
      count,
      values: [...values].sort(([, one], [, other]) => other - one).map(([value, times]) => ({ value, count: times })),
    }))
  if (options.output && options.output !== 'table') return show(rows, options.output, terminal)
  const shown = rows.map(({ values, count, ...row }) => ({
    ...row,
    sampled: countText(count),
    values: values
      .slice(0, VALUES_SHOWN)
      .map(({ value, count: times }) => `${value} (${times})`)
      .join(', '),
  }))
  showTable(shown, terminal)
}

async function topValues(
  client: CliClient,
  field: string,
  words: readonly string[],
  options: TopOptions,
  terminal: Terminal,
): Promise<void> {
  const select = ['count(*)']
  const keys = groupKeys(field)
  const body = {
    ...sourcesOf(options),
    ...rangeBody(options, Date.now()),
    ...filterOf(words, options),
    select,
    groups: keys.map(printKey),
    limit: options.limit,
  }
  const answer = await explained(body, client.search.run({ body, repeatable: true, signal: terminal.signal }))
  showWarnings(answer, body, terminal)
  const rows = answer.groups_series.flatMap((series) => groupRows(series, select))
  if (options.output && options.output !== 'table') show(rows, options.output, terminal)
  else {
    const total = Number(answer.totals.count)
    const shareOf = (count: number) => (total === 0 ? '' : `${((100 * count) / total).toFixed(1)} %`)
    showTable(
      rows.map((row) => ({
        count: countText(Number(row['count(*)'])),
        share: shareOf(Number(row['count(*)'])),
        value: keys.map((key) => row[key] ?? '').join(', '),
      })),
      terminal,
    )
  }
  terminal.err(searchCost(answer))
}
