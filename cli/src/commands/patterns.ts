import { type Command, Option } from 'commander'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { countText, quantity } from '../cost.ts'
import { openDatasetNames, placeName } from '../dataset-names.ts'
import { explained } from '../failure.ts'
import { show, showTable } from '../output.ts'
import { addRange, addSources, filterOf, type QueryOptions, rangeBody, sourcesOf, wholeNumber } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'

type PatternOptions = QueryOptions & Settings & { limit: number }

const PATTERNS_MAX = 1_000
const EXAMPLES = `
Examples:
  dendro patterns -d shop.web -t 1h        # the kinds of messages of an hour, most frequent first
  dendro patterns "level = 'error'" -n 20  # those of errors
  dendro search "@pattern = '8f14e45fceea167a'"    # the events of a pattern
  dendro patterns values --id 8f14e45fceea167a --search-details '{"from_expr": "*"}'`

/** `dendro patterns`: the message patterns of matching events. */
export function addPatterns(command: Command, terminal: Terminal, globals: () => Settings): Command {
  command
    .description('List the message patterns of matching events, most frequent first.')
    .enablePositionalOptions()
    .argument('[query...]', 'the filter; every event when absent')
    .option('--where <filter>', 'the filter, instead of the words')
  addRange(addSources(command)).addOption(
    new Option('-n, --limit <number>', 'maximum number of patterns').argParser(wholeNumber(1, PATTERNS_MAX)).default(50),
  )
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: PatternOptions) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const search_details = { ...sourcesOf(settings), ...rangeBody(settings, Date.now()), ...filterOf(words, settings) }
    const body = { search_details }
    const { patterns } = await explained(body, client.patterns.find({ body, repeatable: true, signal: terminal.signal }))
    const shown = patterns.slice(0, settings.limit)
    if (settings.output && settings.output !== 'table') return show(shown, settings.output, terminal)
    const names = openDatasetNames(client)
    const rows = shown.map(async ({ count = 0, id, log_id, template }) => ({
      count: countText(count),
      id,
      dataset: placeName(await names.nameOf(log_id)),
      template,
    }))
    showTable(await Promise.all(rows), terminal)
    if (patterns.length > shown.length) terminal.err(`${quantity(patterns.length - shown.length, 'further pattern')}; more with --limit`)
  })
}
