import { Command } from 'commander'
import { type Connection, connect } from '../connection.ts'
import { addConnection } from '../contract-commands.ts'
import { UsageError } from '../failure.ts'
import { type Scenario, scenarios } from '../seed/scenarios.ts'
import type { Terminal } from '../terminal.ts'

/** Fills an organization with demo data of a scenario. */
export function seedCommand(terminal: Terminal, globals: () => Connection): Command {
  const known: Readonly<Record<string, Scenario>> = scenarios
  const list = Object.entries(known).map(([name, { summary }]) => `  ${name}  ${summary}`)
  const command = new Command('seed')
    .description('Fill an organization with demo data; running it again only adds what is missing.')
    .argument('<scenario>', `one of ${Object.keys(known).join(', ')}`)
    .addHelpText('after', `\nScenarios:\n${list.join('\n')}\n\nExamples:\n  dendro seed shop`)
  addConnection(command)
  return command.action(async (name: string, options: Connection) => {
    const scenario = Object.hasOwn(known, name) ? known[name] : undefined
    if (!scenario) throw new UsageError(`unknown scenario ${name}; choose one of ${Object.keys(known).join(', ')}`)
    await scenario.run(await connect({ ...globals(), ...options }, terminal, 'credential'), terminal.out)
  })
}
