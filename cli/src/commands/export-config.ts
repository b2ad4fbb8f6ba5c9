import { ApiFailure } from '@dendro/api'
import { Command } from 'commander'
import { ConfigError } from '../configuration/config-error.ts'
import { writeConfigFile } from '../configuration/config-files.ts'
import { exportKind, repeatedObjects } from '../configuration/export-documents.ts'
import { openInventory } from '../configuration/inventory.ts'
import type { Kind } from '../configuration/kind.ts'
import { kinds } from '../configuration/kinds.ts'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { quantity } from '../cost.ts'
import { describeFailure, UsageError } from '../failure.ts'
import type { Terminal } from '../terminal.ts'

const HEADER = '# Written by dendro export-config. dendro apply reads it.\n'
const EXAMPLES = `
Examples:
  dendro export-config -o config/                    # one file for each kind
  dendro export-config --only monitors,dashboards    # to standard output
  dendro export-config -o staging/ --profile staging`

/** `dendro export-config`: the configuration of the organization as YAML files. */
export function exportConfigCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('export-config')
    .description('Write the configuration of the organization as YAML documents, which dendro apply reads.')
    .option('-o, --out <folder>', 'the folder for the files; without it, all documents go to standard output')
    .option('--only <kinds>', `only these kinds, separated by commas: ${kinds.map(fileWord).join(', ')}`)
  addConnection(command, new Set(['--output'])).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings & { out?: string; only?: string }) => {
    const settings = { ...globals(), ...options }
    const chosen = chosenKinds(options.only)
    const { signal } = terminal
    const service = { client: await connect(settings, terminal, 'credential'), signal }
    const inventory = openInventory(service, kinds)
    const usedNames = new Set<string>()
    const problems: string[] = []
    const exported = []
    for (const kind of chosen) {
      problems.push(...(await repeatedObjects(kind, inventory).catch(nameKind(kind))))
      exported.push(await exportKind(kind, { service, inventory, usedNames, hasFiles: options.out !== undefined }).catch(nameKind(kind)))
    }
    if (problems.length > 0) throw new ConfigError(problems)
    const { writeDocuments } = await import('../configuration/yaml-documents.ts')
    for (const { kind, documents, files } of exported) {
      for (const { name, load } of files) await writeConfigFile(options.out ?? '', name, await load().catch(nameKind(kind)))
      const text = writeDocuments(documents)
      if (options.out === undefined) await terminal.write(text)
      else await writeConfigFile(options.out, kind.file, HEADER + (text === '' ? `# There is no ${kind.name}.\n` : text))
    }
    const count = exported.reduce((sum, { documents }) => sum + documents.length, 0)
    terminal.err(`${quantity(count, 'object')}${options.out === undefined ? '' : ` in ${options.out}`}`)
    const variables = exported.flatMap(({ variables: names }) => names)
    if (variables.length > 0) terminal.err(`The service does not return secrets. Before an apply, set ${variables.join(', ')}.`)
  })
}

/** A caller without permission to read one kind can leave it out. */
const nameKind =
  (kind: Kind) =>
  (thrown: unknown): never => {
    if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown
    throw new Error(`${fileWord(kind)}: ${describeFailure(thrown).lines.join(' ')}; --only chooses other kinds`, { cause: thrown })
  }

/** The word for a kind on the command line: its file without the ending. */
const fileWord = ({ file }: { file: string }): string => file.replace(/\.yaml$/, '')

function chosenKinds(only: string | undefined) {
  if (only === undefined) return kinds
  const words = only.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !kinds.some((kind) => fileWord(kind) === word))
  if (unknown !== undefined) throw new UsageError(`--only: there is no ${unknown}; there are ${kinds.map(fileWord).join(', ')}`)
  return kinds.filter((kind) => words.includes(fileWord(kind)))
}
