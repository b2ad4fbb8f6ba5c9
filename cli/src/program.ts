import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { applyCommand } from './commands/apply.ts'
import { completeCommand, completionCommand } from './commands/completion.ts'
import { addContext } from './commands/context.ts'
import { explainCommand } from './commands/explain.ts'
import { exportCommand } from './commands/export.ts'
import { exportConfigCommand } from './commands/export-config.ts'
import { ingestCommand } from './commands/ingest.ts'
import { addInsights, ownInsightVerbs } from './commands/insights.ts'
import { loginCommands } from './commands/login.ts'
import { mcpCommand } from './commands/mcp.ts'
import { addMonitors, ownMonitorVerbs } from './commands/monitors.ts'
import { addPatterns } from './commands/patterns.ts'
import { rehydrateCommand } from './commands/rehydrate.ts'
import { addSearch } from './commands/search.ts'
import { seedCommand } from './commands/seed.ts'
import { tailCommand } from './commands/tail.ts'
import { topCommand } from './commands/top.ts'
import { traceCommand } from './commands/trace.ts'
import { addTraces } from './commands/traces.ts'
import { addConnection, contractCommands, type Settings } from './contract-commands.ts'
import { describeFailure, INTERRUPTED, MISUSED, OK } from './failure.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line and returns the exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted. */
export async function runCommand(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    await programFor(terminal, words).parseAsync([...words], { from: 'user' })
    return terminal.signal.aborted ? INTERRUPTED : OK
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? OK : MISUSED
    if (terminal.signal.aborted) return INTERRUPTED
    const { lines, status } = describeFailure(thrown)
    lines.forEach((line, index) => {
      terminal.err(index === 0 ? `dendro: ${line}` : line)
    })
    return status
  }
}

/** The version in package.json, which lies one folder above the sources and above the bundle. */
function versionOf(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}

const EPILOGUE = `
Examples:
  dendro login --url https://logs.example.org
  dendro tail -f "level = 'error'"
  dendro search timeout -t 2h --columns time,level,message
  dendro datasets create --collection shop --dataset web --tags env=prod
  dendro datasets list --output ndjson

The service and the credential come from dendro login, from DENDRO_URL and DENDRO_API_KEY, or from --url and --key.
Every endpoint of the API is a command: dendro <noun> <verb>. Errors go to standard error.
Exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted.`

/** The complete command. With the words of a command line, only the commands that they need are complete. */
export function programFor(terminal: Terminal, words?: readonly string[]): Command {
  const program = new Command('dendro')
    .description('The command-line client of Dendro.')
    .version(versionOf(), '-V, --version')
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .addHelpText('after', EPILOGUE)
  addConnection(program)
  const globals = () => program.opts<Settings>()
  const nouns = contractCommands(terminal, globals, words, [...ownMonitorVerbs, ...ownInsightVerbs])
  const noun = (name: string): Command => {
    const found = nouns.find((command) => command.name() === name)
    if (!found) throw new Error(`the contract has no ${name}`)
    return found
  }
  const queries = [
    tailCommand(terminal, globals),
    addSearch(noun('search'), terminal, globals),
    topCommand(terminal, globals),
    addPatterns(noun('patterns'), terminal, globals),
    addContext(noun('context'), terminal, globals),
    addTraces(noun('traces'), terminal, globals),
    traceCommand(terminal, globals),
    explainCommand(terminal, globals),
    addMonitors(noun('monitors'), terminal, globals),
    addInsights(noun('insights'), terminal, globals),
    exportCommand(terminal, globals),
    ingestCommand(terminal, globals),
    rehydrateCommand(terminal, globals),
  ]
  const tools = [
    ...loginCommands(terminal, globals),
    applyCommand(terminal, globals),
    exportConfigCommand(terminal, globals),
    completionCommand(terminal),
    seedCommand(terminal, globals),
    mcpCommand(terminal, globals),
  ]
  for (const [title, commands] of [
    ['Logs:', queries],
    ['Tools:', tools],
  ] as const) {
    for (const command of commands) program.addCommand(command.helpGroup(title))
  }
  for (const command of nouns) if (!program.commands.includes(command)) program.addCommand(command.helpGroup('Records and endpoints:'))
  program.addCommand(
    completeCommand(terminal, (typed) => programFor(terminal, typed)),
    { hidden: true },
  )
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
