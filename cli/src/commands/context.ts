import { EVENTS_MAX } from '@dendro/api'
import { type Command, Option } from 'commander'
import { painterFor } from '../colors.ts'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { costText } from '../cost.ts'
import { openDatasetNames } from '../dataset-names.ts'
import { lineOf } from '../event-line.ts'
import { recordOf } from '../event-record.ts'
import { REF_HELP, readEventRef } from '../event-ref.ts'
import { explained } from '../failure.ts'
import { show } from '../output.ts'
import { addSources, type QueryOptions, sourcesOf, wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'
import { addLineOptions, checkLineOptions } from './search.ts'

type ContextOptions = QueryOptions &
  Settings & { direction?: 'before' | 'after' | 'both'; limit: number; raw?: boolean; refs?: boolean; color?: 'auto' | 'always' | 'never' }

const EXAMPLES = `
Examples:
  dendro search failed --refs                          # prints the references of events
  dendro context 7d0c…/1795651200000/5961600000000001  # what happened around an event, in its dataset
  dendro search failed -n 1 --output ndjson | dendro context - --from-expr '*' -n 20`

/** `dendro context`: the events around an event. */
export function addContext(command: Command, terminal: Terminal, globals: () => Settings): Command {
  command.description('Show the events around an event, oldest first.').enablePositionalOptions().argument('<event>', REF_HELP)
  addSources(command)
    .addOption(new Option('--direction <direction>', 'which side').choices(['before', 'after', 'both']))
    .addOption(new Option('-n, --limit <number>', 'number of events').argParser(wholeNumber(1, EVENTS_MAX)).default(20))
  addLineOptions(command)
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (word: string, options: ContextOptions) => {
    const settings = { ...globals(), ...options }
    checkLineOptions(settings)
    const client = await connect(settings, terminal, 'credential')
    const { logId, timestamp, sequence } = await readEventRef(word, terminal)
    const isElsewhere = settings.dataset !== undefined || settings.fromExpr !== undefined
    const query = {
      ...(isElsewhere ? sourcesOf(settings) : { from: [logId] }),
      timestamp,
      ...(sequence === undefined ? {} : { sequence }),
      ...(settings.direction ? { direction: settings.direction } : {}),
      limit: settings.limit,
    }
    const answer = await explained(query, client.context.get({ query, signal: terminal.signal }))
    const names = openDatasetNames(client)
    const records = await Promise.all(answer.events.map((event) => recordOf(event, names)))
    if (settings.output && settings.output !== 'table') return show(records, settings.output, terminal)
    const paint = painterFor(terminal, settings.color)
    const style = {
      paint,
      zone: 'utc',
      withDataset: isElsewhere,
      withRef: settings.refs === true,
      fields: undefined,
      raw: settings.raw === true,
    } as const
    for (const record of records) {
      const isItself = record.log_id === logId && BigInt(record['@sequence']) === sequence
      await terminal.write(`${isItself ? paint('bold', '>') : ' '} ${lineOf(record, style)}\n`)
    }
    terminal.err(costText(answer.explain))
  })
}
