import { type AiEvent, fromText, openResponse, serverSentEvents } from '@dendro/api'
import { Command } from 'commander'
import { clientOptions, connect, credentialFor } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { bytesText } from '../cost.ts'
import { escapeControls } from '../escape.ts'
import { REF_HELP, readEventRef } from '../event-ref.ts'
import { explained } from '../failure.ts'
import { show } from '../output.ts'
import { addRange, addSources, filterOf, type QueryOptions, rangeBody, rangeOf, sourcesOf } from '../query-options.ts'
import type { Terminal } from '../terminal.ts'
import { showWarnings } from './search.ts'

const EXAMPLES = `
Examples:
  dendro search "level = 'error'" -n 1 --output ndjson | dendro explain error -
  dendro explain query "level = 'error' AND ms > 500" -t 7d`

/** `dendro explain`: what is known about an error, and what a query would cost. */
export function explainCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('explain').description('Explain an event, or the cost of a query.').addHelpText('after', EXAMPLES)
  return command.addCommand(errorCommand(terminal, globals)).addCommand(queryCommand(terminal, globals))
}

function errorCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('error')
    .description('Explain an event from stored data: since when, how often, what is special about it, what happened around it.')
    .argument('<event>', REF_HELP)
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (word: string, options: Settings) => {
    const settings = { ...globals(), ...options }
    const access = await credentialFor(settings, terminal)
    const { logId, timestamp, sequence = 0n } = await readEventRef(word, terminal)
    const query = { timestamp, sequence, logId }
    const response = await openResponse(clientOptions(access), '/explain-error', { query, signal: terminal.signal })
    const events: AiEvent[] = []
    for await (const { data } of serverSentEvents(response.body)) {
      if (data === undefined) continue
      const event = fromText(data) as AiEvent
      events.push(event)
      if (event.type === 'ERROR') throw new Error(event.message ?? 'the explanation failed')
      if (event.type === 'LOADING_MESSAGE') terminal.progress(`${event.message ?? ''}…`)
      const isText = settings.output === undefined || settings.output === 'table'
      if (event.type === 'AI_RESPONSE_DELTA' && isText) await terminal.write(escapeControls(event.message ?? '', 'lines'))
    }
    if (settings.output && settings.output !== 'table') show(events, settings.output, terminal)
  })
}

function queryCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('query')
    .description('Check a query and estimate its cost without running it.')
    .argument('[query...]', 'the filter; every event when absent')
    .option('--where <filter>', 'the filter, instead of the words')
  addConnection(addRange(addSources(command))).addHelpText('after', EXAMPLES)
  return command.action(async (words: string[], options: QueryOptions & Settings) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const range = rangeOf(settings, Date.now())
    const body = { ...sourcesOf(settings), ...rangeBody(settings, Date.now()), ...filterOf(words, settings), explain_only: true }
    const answer = await explained(body, client.search.run({ body, repeatable: true, signal: terminal.signal }))
    showWarnings(answer, body, terminal)
    const bytes = Number(answer.explain['Approximate bytes in time range'] ?? 0)
    const isTable = settings.output === undefined || settings.output === 'table'
    const rangeText = 'words' in range ? range.words : `${new Date(range.fromMs).toISOString()} to ${new Date(range.toMs).toISOString()}`
    show(
      { filter: body.where ?? '(every event)', range: rangeText, bytes_in_range: isTable ? bytesText(bytes) : bytes },
      settings.output ?? 'table',
      terminal,
    )
  })
}
