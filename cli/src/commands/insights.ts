import { type Insight, readInsightText } from '@dendro/api'
import { Command } from 'commander'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { timeText } from '../event-line.ts'
import { show } from '../output.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  dendro insights list                 # what is unusual, with the page for each action
  dendro insights list --output json`

/** The endpoints for which this file has commands of its own. */
export const ownInsightVerbs = ['insights list'] as const

/** `dendro insights list`, which is also `dendro insights`. */
export function addInsights(command: Command, terminal: Terminal, globals: () => Settings): Command {
  return command.addCommand(listCommand(terminal, globals), { isDefault: true }).addHelpText('after', EXAMPLES)
}

function listCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('list').description('List what is unusual in the data, with an action for each.')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings) => {
    const settings = { ...globals(), ...options }
    const client = await connect(settings, terminal, 'credential')
    const { insights } = await client.insights.list({ signal: terminal.signal })
    if (settings.output && settings.output !== 'table') return show(insights, settings.output, terminal)
    show(insights.map(rowOf), 'table', terminal)
  })
}

function rowOf({ id, name, description, created_at }: Insight): Record<string, string> {
  const text = readInsightText(description)
  return {
    id,
    since: timeText(created_at, 'utc'),
    name,
    confidence: text?.confidence ?? '',
    finding: text?.finding ?? description,
    action: text ? `${text.action.label}: ${text.action.link}` : '',
  }
}
