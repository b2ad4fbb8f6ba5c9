import { isUuid, type Monitor, type MonitorEvaluation } from '@dendro/api'
import { Command, Option } from 'commander'
import { type CliClient, connect } from '../connection.ts'
import { addConnection, bodyText, type Settings } from '../contract-commands.ts'
import { quantity } from '../cost.ts'
import { timeText } from '../event-line.ts'
import { explained, UsageError } from '../failure.ts'
import { show } from '../output.ts'
import { wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'
import { readJson } from '../values.ts'

type Definition = NonNullable<NonNullable<Parameters<CliClient['monitors']['backtest']>[0]>['body']>

const statuses = ['OK', 'NO_DATA', 'ALERT', 'WARN', 'WAITING'] as const
const sorts = ['newest', 'name', 'severity', 'last_trigger'] as const
const PAGE_MAX = 1_000
const SEARCH_CHARS_MAX = 200
const EVALUATIONS_SHOWN = 10
const EVALUATIONS_MAX = 1_000
const DAYS_MAX = 30
const EXAMPLES = `
Examples:
  dendro monitors list --status ALERT             # what is alerting now
  dendro monitors show 'Checkout errors'          # its definition and its latest evaluations
  dendro monitors backtest 'Checkout errors' --threshold 20 --days 7
  dendro monitors backtest --body @monitor.json   # a definition that is not stored
  dendro monitors mute <monitor-id>`

/** The endpoints for which this file has commands of its own. */
export const ownMonitorVerbs = ['monitors list', 'monitors backtest'] as const

/** `dendro monitors list`, `show` and `backtest`. */
export function addMonitors(command: Command, terminal: Terminal, globals: () => Settings): Command {
  for (const own of [listCommand, showCommand, backtestCommand]) command.addCommand(own(terminal, globals))
  return command.addHelpText('after', EXAMPLES)
}

const conditionOf = ({ comparison_operator, threshold, warning_threshold, window }: Monitor): string => {
  const warning = warning_threshold === undefined ? '' : `, warning ${warning_threshold}`
  return `${comparison_operator.toLowerCase().replaceAll('_', ' ')} ${threshold}${warning}, ${window.toLowerCase()}`
}

type ListOptions = {
  logId?: string
  status?: (typeof statuses)[number]
  search?: string
  sort?: (typeof sorts)[number]
  limit?: number
  cursor?: string
}

function listCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('list')
    .description('List monitors with their state.')
    .option('--log-id <id>', 'only monitors that read this dataset')
    .addOption(new Option('--status <status>', 'only monitors with this status; WAITING: not evaluated yet').choices(statuses))
    .option('--search <words>', 'only monitors whose name, description, conditions and tags contain each of these words')
    .addOption(new Option('--sort <order>', 'the order of the list').choices(sorts))
    .addOption(new Option('-n, --limit <number>', 'number of monitors of a page').argParser(wholeNumber(1, PAGE_MAX)))
    .option('--cursor <text>', 'the next page; needs --limit, and the same order and filters')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings & ListOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const { logId: log_id, status, search, sort, limit, cursor } = options
    const { monitors, next_cursor } = await client.monitors.list({
      query: { log_id, status, search, sort, limit, cursor },
      signal: terminal.signal,
    })
    // JSON of the whole list is a bare list.
    const shownAs = <Row>(rows: readonly Row[]) => (next_cursor === undefined ? rows : { monitors: rows, next_cursor })
    if (settings.output && settings.output !== 'table') return show(shownAs(monitors), settings.output, terminal)
    const rows = monitors.map((monitor) => ({
      id: monitor.id,
      status: monitor.muted_until === undefined ? monitor.status : `${monitor.status} (muted)`,
      name: monitor.name,
      condition: conditionOf(monitor),
      last_trigger: monitor.last_trigger_ts === undefined ? '' : timeText(monitor.last_trigger_ts, 'utc'),
    }))
    show(shownAs(rows), 'table', terminal)
  })
}

/** Finds a monitor by its id or its exact name. */
async function findMonitor(client: CliClient, word: string, signal: AbortSignal): Promise<Monitor> {
  if (isUuid(word)) return client.monitors.get({ params: { monitorId: word }, signal })
  const query = word.length > SEARCH_CHARS_MAX ? {} : { search: word }
  const named = (await client.monitors.list({ query, signal })).monitors.filter(({ name }) => name === word)
  const [monitor, ...others] = named
  if (!monitor) throw new UsageError(`there is no monitor '${word}'`)
  if (others.length > 0)
    throw new UsageError(`${named.length} monitors have the name '${word}'; give the id: ${named.map(({ id }) => id).join(', ')}`)
  return monitor
}

function showCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('show')
    .description('Show a monitor with its latest evaluations.')
    .argument('<monitor>', 'its id or its name')
    .addOption(
      new Option('-n, --limit <number>', 'number of evaluations').argParser(wholeNumber(1, EVALUATIONS_MAX)).default(EVALUATIONS_SHOWN),
    )
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (word: string, options: Settings & { limit: number }) => {
    const settings = { ...globals(), ...options }
    const { signal } = terminal
    const client = await connect(settings, terminal, 'credential')
    const monitor = await findMonitor(client, word, signal)
    const params = { monitorId: monitor.id }
    const { evaluations } = await client.monitors.evaluations({ params, query: { limit: options.limit }, signal })
    if (settings.output && settings.output !== 'table') return show({ monitor, evaluations }, settings.output, terminal)
    const groups = monitor.monitored_groups.filter(({ status }) => status !== 'OK').map(({ group_id, status }) => `${group_id}=${status}`)
    show(
      {
        id: monitor.id,
        name: monitor.name,
        status: monitor.status,
        condition: conditionOf(monitor),
        queries: monitor.queries
          .map(({ name, select, where }) => `${name}: ${select.join(', ')} where ${where || '(every event)'}`)
          .join('; '),
        ...(groups.length === 0 ? {} : { groups: groups.join(', ') }),
        ...(monitor.description === undefined ? {} : { description: monitor.description }),
      },
      'table',
      terminal,
    )
    terminal.out('')
    show(evaluations.map(evaluationRow), 'table', terminal)
  })
}

const evaluationRow = (evaluation: MonitorEvaluation): Record<string, unknown> => ({
  evaluated: timeText(evaluation.time, 'utc'),
  status: evaluation.status,
  value: evaluation.value,
  baseline: evaluation.baseline,
  threshold: evaluation.threshold,
  notifications: evaluation.notifications.length,
  note: evaluation.failure ?? evaluation.groups.find(({ change }) => change !== undefined)?.verdict,
})

function backtestCommand(terminal: Terminal, globals: () => Settings): Command {
  const numeric = (word: string): number => {
    const number = Number(word)
    if (word.trim() === '' || !Number.isFinite(number)) throw new UsageError(`'${word}' is not a number`)
    return number
  }
  const command = new Command('backtest')
    .description('Evaluate a monitor over past days: its status changes and notifications. Nothing is notified.')
    .argument('[monitor]', 'the id or the name of a monitor; or give a definition with --body')
    .option('--body <json>', 'a definition: JSON, @file, or - for standard input')
    .addOption(new Option('--threshold <number>', 'another threshold').argParser(numeric))
    .addOption(new Option('--warning-threshold <number>', 'another warning threshold').argParser(numeric))
    .option('--window <window>', "another window, such as 'Last 10 minutes'")
    .addOption(new Option('--days <number>', 'how far back').argParser(wholeNumber(1, DAYS_MAX)))
  addConnection(command).addHelpText('after', EXAMPLES)
  type BacktestOptions = Settings & { body?: string; threshold?: number; warningThreshold?: number; window?: string; days?: number }
  return command.action(async (word: string | undefined, options: BacktestOptions) => {
    const settings = { ...globals(), ...options }
    if ((word === undefined) === (options.body === undefined)) throw new UsageError('give either a monitor or --body')
    const client = await connect(settings, terminal, 'credential')
    const definition =
      word === undefined
        ? readJson('--body', await bodyText(options.body ?? '', terminal))
        : await findMonitor(client, word, terminal.signal)
    if (typeof definition !== 'object' || definition === null) throw new UsageError('--body is not an object')
    const { threshold, warningThreshold: warning_threshold, window, days } = options
    const changes = Object.entries({ threshold, warning_threshold, window, days }).filter(([, value]) => value !== undefined)
    const body = { ...definition, ...Object.fromEntries(changes) } as unknown as Definition
    const result = await explained(body, client.monitors.backtest({ body, repeatable: true, signal: terminal.signal }))
    if (settings.output && settings.output !== 'table') return show(result, settings.output, terminal)
    const rows = result.monitor_events.map(({ time, previous_status, monitor_status }) => ({
      changed: timeText(time, 'utc'),
      from: previous_status,
      to: monitor_status,
    }))
    show(rows, 'table', terminal)
    const total = Object.values(result.time_in_status).reduce((sum, ms) => sum + ms, 0)
    const shares = Object.entries(result.time_in_status).map(
      ([status, ms]) => `${status} ${((100 * ms) / Math.max(1, total)).toFixed(1)} %`,
    )
    const counts = [quantity(result.changes_total, 'change'), quantity(result.notifications_total, 'notification')]
    terminal.err(`${timeText(result.from_ts, 'utc')} to ${timeText(result.to_ts, 'utc')} · ${[...counts, ...shares].join(' · ')}`)
  })
}
