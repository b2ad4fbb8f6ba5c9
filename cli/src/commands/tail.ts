import type { Event } from '@dendro/api'
import { Command, Option } from 'commander'
import { type ColorMode, painterFor } from '../colors.ts'
import { clientOf, credentialFor } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { quantity } from '../cost.ts'
import { csvLine, csvText } from '../csv.ts'
import { openDatasetNames } from '../dataset-names.ts'
import { lineOf } from '../event-line.ts'
import { columnOf, recordOf } from '../event-record.ts'
import { explained, UsageError } from '../failure.ts'
import { follow } from '../follow.ts'
import { toJson } from '../output.ts'
import { addRange, addSources, filterOf, type QueryOptions, rangeBody, sourcesOf, wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'
import { addLineOptions, checkLineOptions, namesOf, showWarnings } from './search.ts'

type TailOptions = QueryOptions &
  Settings & { follow?: boolean; lines: number; fields?: string[]; raw?: boolean; refs?: boolean; color?: ColorMode }

const LINES_MAX = 10_000
const EXAMPLES = `
Examples:
  dendro tail                                     # the last 10 events
  dendro tail -f -d shop.web                      # follow a dataset
  dendro tail -f "level = 'error'" --fields host  # errors only, with one field
  dendro tail -f --output ndjson | jq .message    # one JSON object per event

Ctrl-C ends it. After an interruption of the connection it continues: a search finds the events in between, and none is shown twice.
Above about 500 events a second the service samples; the rate is printed to standard error.`

/** `dendro tail`: the latest events, and new ones as they arrive. */
export function tailCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('tail')
    .description('Show the latest events; with -f, follow new events as they arrive.')
    .argument('[query...]', 'the filter; every event when absent')
    .option('--where <filter>', 'the filter, instead of the words')
    .option('-f, --follow', 'continue with new events')
    .addOption(new Option('-n, --lines <number>', 'number of latest events to begin with').argParser(wholeNumber(0, LINES_MAX)).default(10))
    .addOption(new Option('--fields <names>', 'show only these fields after the message; columns of CSV').argParser(namesOf))
  addLineOptions(addRange(addSources(command)))
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: TailOptions) => {
    await runTail(words, { ...globals(), ...options }, terminal)
  })
}

async function runTail(words: readonly string[], options: TailOptions, terminal: Terminal): Promise<void> {
  checkLineOptions(options)
  if (options.output === 'json') throw new UsageError('--output json has no end here; use ndjson')
  const { signal } = terminal
  const access = await credentialFor(options, terminal)
  const client = clientOf(access)
  const request = { ...sourcesOf(options), ...filterOf(words, options) }
  const { begin, print } = printerFor(options, terminal, openDatasetNames(client))
  const body = { ...request, ...rangeBody(options, Date.now()), select: ['*', '@raw'], limit: Math.max(1, options.lines) }
  const search = () => explained(body, client.search.run({ body, repeatable: true, signal }))
  // With --lines 0, the latest event only marks the beginning. It is read before the tail starts, so that it is none of the new ones.
  const mark = options.lines === 0 ? await search() : undefined
  const job = options.follow ? await explained(request, client.liveTail.start({ body: request, signal })) : undefined
  const latest = mark ?? (await search())
  showWarnings(latest, body, terminal)
  // A header on the terminal says that later events will be shown.
  await begin()
  for (const event of options.lines === 0 ? [] : latest.events.reverse()) await print(event)
  if (!job) return
  const listeners = {
    onEvent: print,
    onSampled: (oneOf: number) => terminal.err(oneOf === 1 ? 'dendro: showing all events' : `dendro: many events; showing 1 in ${oneOf}`),
    onMissed: (count: number) => terminal.err(`dendro: ${quantity(count, 'event')} not shown`),
    onInterrupted: (thrown: unknown) => terminal.err(`dendro: connection lost (${reasonOf(thrown)}); reconnecting`),
    onResumed: (events: number) => terminal.err(`dendro: connected again; ${quantity(events, 'event')} in between`),
  }
  await follow({ access, client, request, signal, listeners }, latest.events, job.job_id)
}

const reasonOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

type EventPrinter = { begin(): Promise<void>; print(event: Event): Promise<void> }

/** Prints events in the chosen format. `begin` writes the header. */
function printerFor(options: TailOptions, terminal: Terminal, names: ReturnType<typeof openDatasetNames>): EventPrinter {
  const { output = 'table', fields } = options
  const style = {
    paint: painterFor(terminal, options.color),
    zone: options.zone ?? 'utc',
    withDataset: options.dataset?.length !== 1,
    withRef: options.refs === true,
    fields,
    raw: options.raw === true,
  }
  const columns = fields ?? ['time', 'level', 'dataset', 'message']
  const print = async (event: Event): Promise<void> => {
    const record = await recordOf(event, names)
    if (output === 'ndjson') {
      await terminal.write(`${toJson(fields ? Object.fromEntries(fields.map((name) => [name, columnOf(record, name)])) : record)}\n`)
    } else if (output === 'csv') await terminal.write(csvText(csvLine(columns.map((name) => columnOf(record, name))), terminal))
    else await terminal.write(`${lineOf(record, style)}\n`)
  }
  const begin = async (): Promise<void> => {
    if (output === 'csv') await terminal.write(csvText(csvLine(columns), terminal))
  }
  return { begin, print }
}
