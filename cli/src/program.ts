import { Command, CommanderError } from 'commander'
import { seedCommand } from './commands/seed.ts'
import type { Connection } from './connection.ts'
import { addConnection, contractCommands } from './contract-commands.ts'
import { describeFailure, MISUSED, OK } from './failure.ts'
import type { Format } from './output.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line and returns the exit status: 0 success, 1 failure, 2 wrong usage. */
export async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await programFor(terminal).parseAsync([...words], { from: 'user' })
    return OK
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? OK : MISUSED
    const { sentence, status } = describeFailure(thrown)
    terminal.err(`dendro: ${sentence}`)
    return status
  }
}

const EPILOGUE = `
Examples:
  dendro datasets create --collection shop --dataset web --tags env=prod
  dendro datasets list --output ndjson
  dendro api-keys create --name shipper --roles IngestionApi
  dendro seed shop

The service and the key come from DENDRO_URL and DENDRO_API_KEY, or from --url and --key.`

/** The complete command: hand-written commands and those generated from the contract. */
export function programFor(terminal: Terminal): Command {
  const program = new Command('dendro')
    .description('The command-line client of Dendro: every endpoint of its API as a command.')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .addHelpText('after', EPILOGUE)
  addConnection(program)
  const globals = () => program.opts<Connection & { output?: Format }>()
  const commands = [seedCommand(terminal, globals), ...contractCommands(terminal, globals)]
  for (const command of commands) program.addCommand(command)
  for (const command of everyCommand(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => terminal.out(text.replace(/\n$/, '')),
      writeErr: (text) => terminal.err(text.replace(/\n$/, '')),
      ...(terminal.columns === undefined ? {} : { getOutHelpWidth: () => terminal.columns ?? 0 }),
    })
  }
  return program
}

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]
