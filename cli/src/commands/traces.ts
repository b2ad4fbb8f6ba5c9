import { TRACES_MAX, type TraceSummary } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { type Command, Option } from 'commander'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { cutTo } from '../escape.ts'
import { timeText } from '../event-line.ts'
import { explained } from '../failure.ts'
import { show, showTable } from '../output.ts'
import { addRange, filterOf, type QueryOptions, rangeBody, wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

type Status = NonNullable<TraceSummary['found']['status']>
type TraceOptions = QueryOptions &
  Settings & {
    service?: string
    operation?: string
    status?: Status
    min?: string
    max?: string
    root?: boolean
    slowest?: boolean
    limit: number
  }

const DEFAULT_RANGE = '1h'
/** Longer names are cut in a table, with an ellipsis; --output json has all of them. */
const NAME_CHARS_MAX = 100
const SERVICES_CHARS_MAX = 500
const EXAMPLES = `
Examples:
  dendro traces                                   # the newest traces of an hour
  dendro traces --slowest --service shop -t 1d    # the slowest requests of a service
  dendro traces --status error --operation charge # those in which an operation failed
  dendro traces '$http.status_code >= 500' --min 500ms
  dendro trace 5b8efff798038103d269b633813fc60c   # the spans of one`

/** `dendro traces`: the traces with a matching span. */
export function addTraces(command: Command, terminal: Terminal, globals: () => Settings): Command {
  command
    .description('List the traces that have a matching span, newest first.')
    .enablePositionalOptions()
    .argument('[query...]', 'a filter on one span; every span when absent')
    .option('--where <filter>', 'the filter, instead of the words')
    .option('--service <name>', 'the service of the span')
    .option('--operation <name>', 'the name of the span')
    .addOption(new Option('--status <status>', 'the status of the span').choices(['ok', 'error', 'unset']))
    .option('--min <duration>', 'the shortest duration of the span, such as 250ms or 1.5s')
    .option('--max <duration>', 'the longest duration of the span')
    .option('--root', 'only spans without a parent')
    .option('--slowest', 'slowest first')
    .option('--from-expr <selector>', "datasets of spans, such as collection = '.traces' AND dataset = 'shop'; all when absent")
  addRange(command, DEFAULT_RANGE).addOption(
    new Option('-n, --limit <number>', 'maximum number of traces').argParser(wholeNumber(1, TRACES_MAX)).default(20),
  )
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: TraceOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const query = queryOf(words, settings)
    const found = await explained(query, client.traces.find({ query, signal: terminal.signal }))
    if (settings.output && settings.output !== 'table') return show(found.traces, settings.output, terminal)
    showTable(
      found.traces.map((trace) => rowOf(trace, settings)),
      terminal,
    )
    if (found.has_more) terminal.err(`There are more; up to ${TRACES_MAX} with --limit, or narrow the range or the filter`)
    if (found.is_sampled) terminal.err('Sampled: only a share of some traces is stored')
    if (!found.is_exact) terminal.err('Not exact: some traces have more spans than were read')
  })
}

function queryOf(words: readonly string[], settings: TraceOptions) {
  const { fromExpr, service, operation, status, min, max, root, slowest, limit, range = DEFAULT_RANGE } = settings
  return {
    ...(fromExpr === undefined ? {} : { from_expr: fromExpr }),
    ...rangeBody({ ...settings, range }, Date.now()),
    ...filterOf(words, settings),
    ...(service === undefined ? {} : { service }),
    ...(operation === undefined ? {} : { operation }),
    ...(status === undefined ? {} : { status }),
    ...(min === undefined ? {} : { min_duration: min }),
    ...(max === undefined ? {} : { max_duration: max }),
    ...(root ? { spans: 'root' as const } : {}),
    ...(slowest ? { order: 'slowest' as const } : {}),
    limit,
  }
}

/** A row names the root. Without one it names the span that was found. */
function rowOf(
  { trace_id, start_time, duration_nano, spans, errors, services, root, found }: TraceSummary,
  { zone = 'utc' }: TraceOptions,
) {
  const { service, name } = root ?? found
  return {
    started: timeText(start_time, zone),
    duration: durationText(duration_nano),
    trace_id,
    spans,
    failed: errors,
    service: cutTo(service, NAME_CHARS_MAX),
    operation: cutTo(root ? name : `… ${name}`, NAME_CHARS_MAX),
    services: cutTo(services.map((one) => one.service).join(', '), SERVICES_CHARS_MAX),
  }
}
