import type { Trace } from '@dendro/api'
import { durationText } from '@dendro/language/nanoseconds'
import { Command, Option } from 'commander'
import { type ColorMode, colorModes, painterFor } from '../colors.ts'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { quantity } from '../cost.ts'
import { openDatasetNames } from '../dataset-names.ts'
import { cutTo } from '../escape.ts'
import { lineOf, timeText } from '../event-line.ts'
import { recordOf } from '../event-record.ts'
import { explained } from '../failure.ts'
import { show, showTable } from '../output.ts'
import type { Terminal } from '../terminal.ts'

type Span = Trace['spans'][number]
type TraceOptions = Settings & { logs?: boolean; color?: ColorMode }

const BAR_CHARS = 24
/** Deeper spans are not moved further to the right. */
const DEEPEST = 20
/** A longer name or message is cut in a table, with an ellipsis; --output json has all of it. */
const NAME_CHARS_MAX = 100
const MESSAGE_CHARS_MAX = 500
const EXAMPLES = `
Examples:
  dendro trace 5b8efff798038103d269b633813fc60c           # its spans as a tree, and what failed
  dendro trace 5b8efff798038103d269b633813fc60c --logs    # with its log events
  dendro traces --slowest -n 1 --output ndjson | jq -r .trace_id | xargs dendro trace`

/** `dendro trace`: the spans of a trace as a tree. */
export function traceCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('trace')
    .description('Show the spans of a trace as a tree, and what failed in it.')
    .argument('<id>', 'the trace id: 32 or 16 hex digits, or 16 bytes in base64')
    .option('--logs', 'also its log events')
    .addOption(new Option('--color <when>', 'colors').choices(colorModes))
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (id: string, options: TraceOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const query = settings.logs ? {} : { logs: 0 }
    const trace = await explained(query, client.traces.get({ params: { traceId: id }, query, signal: terminal.signal }))
    if (settings.output === 'json') return show(trace, 'json', terminal)
    if (settings.output === 'ndjson' || settings.output === 'csv') return show(trace.spans, settings.output, terminal)
    terminal.out(headOf(trace))
    if (trace.spans.length > 0) {
      terminal.out('')
      showTable(
        trace.spans.map((span) => rowOf(span, trace.duration_nano)),
        terminal,
      )
    }
    showErrors(trace, terminal)
    if (settings.logs) await showLogs(trace, client, terminal, settings)
    if (trace.spans.length < trace.spans_total)
      terminal.err(`${quantity(trace.spans_total - trace.spans.length, 'further span')} not shown`)
    if (trace.missing_spans.length > 0) terminal.err(`${quantity(trace.missing_spans.length, 'parent span')} missing`)
  })
}

const headOf = (trace: Trace): string =>
  [
    trace.trace_id,
    timeText(trace.start_time, 'utc'),
    durationText(trace.duration_nano),
    quantity(trace.spans_total, 'span'),
    quantity(trace.services.length, 'service'),
    quantity(trace.logs_total, 'log event'),
    ...(trace.errors_total > 0 ? [`${trace.errors_total} failed`] : []),
  ].join(' · ')

const rowOf = (span: Span, whole: number) => ({
  starts: durationText(span.start_nano),
  takes: durationText(span.duration_nano),
  '': barOf(span, whole),
  service: cutTo(span.service, NAME_CHARS_MAX),
  span: `${'  '.repeat(Math.min(DEEPEST, span.depth))}${cutTo(span.name, NAME_CHARS_MAX)}${span.status === 'error' ? ' (failed)' : ''}${span.parent === 'missing' ? ' (parent missing)' : ''}`,
})

/** Where a span lies in the time of the trace. Every span has at least one character. */
function barOf({ start_nano, duration_nano }: Span, whole: number): string {
  const place = (nano: number) => Math.round((BAR_CHARS * Math.min(whole, Math.max(0, nano))) / Math.max(1, whole))
  const from = Math.min(BAR_CHARS - 1, place(start_nano))
  const to = Math.max(from + 1, place(start_nano + duration_nano))
  return `${'·'.repeat(from)}${'█'.repeat(to - from)}${'·'.repeat(BAR_CHARS - to)}`
}

function showErrors({ errors, errors_total, spans }: Trace, terminal: Terminal): void {
  if (errors.length === 0) return
  terminal.out('')
  const rows = errors.map(({ span, message, is_origin }) => ({
    failed: `${cutTo(spans[span]?.service ?? '', NAME_CHARS_MAX)} ${cutTo(spans[span]?.name ?? '', NAME_CHARS_MAX)}`,
    origin: is_origin ? 'yes' : '',
    message: cutTo(message, MESSAGE_CHARS_MAX),
  }))
  showTable(rows, terminal)
  if (errors_total > errors.length) terminal.err(`${quantity(errors_total - errors.length, 'further failed span')} not shown`)
}

async function showLogs({ logs, logs_total }: Trace, client: CliClient, terminal: Terminal, { color }: TraceOptions): Promise<void> {
  const names = openDatasetNames(client)
  const style = {
    paint: painterFor(terminal, color),
    zone: 'utc',
    withDataset: true,
    withRef: false,
    fields: undefined,
    raw: false,
  } as const
  terminal.out('')
  for (const { event } of logs) await terminal.write(`${lineOf(await recordOf(event, names), style)}\n`)
  if (logs_total > logs.length) terminal.err(`${quantity(logs_total - logs.length, 'further log event')} not shown`)
}
