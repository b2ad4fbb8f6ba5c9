import { Command } from 'commander'
import { painterFor } from '../colors.ts'
import { applyChanges, ChangeFailure } from '../configuration/apply-changes.ts'
import { ConfigError } from '../configuration/config-error.ts'
import { readConfigFiles } from '../configuration/config-files.ts'
import { hideValues } from '../configuration/environment.ts'
import { withIncludedFiles } from '../configuration/included-files.ts'
import { openInventory } from '../configuration/inventory.ts'
import { kinds } from '../configuration/kinds.ts'
import { type Change, type Plan, planChanges } from '../configuration/plan.ts'
import { prepareDocuments } from '../configuration/prepare.ts'
import { References } from '../configuration/references.ts'
import { sendWithin } from '../configuration/send.ts'
import { changeCount, planLines, planRows, planSummary } from '../configuration/show-plan.ts'
import { connect } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { escapeControls } from '../escape.ts'
import { describeFailure, PendingChanges, UsageError } from '../failure.ts'
import { show } from '../output.ts'
import type { Terminal } from '../terminal.ts'

const EXAMPLES = `
Examples:
  dendro apply -f config/                  # shows the changes and asks before it makes them
  dendro apply -f config/ --dry-run        # shows the changes; exit status 3 if there are any
  dendro apply -f config/ --yes            # for CI
  dendro apply -f config/ --yes --prune    # also deletes what the files do not have
  dendro apply -f monitors.yaml -f webhooks.yaml

Exit status: 0 nothing left to change, 1 failure, 2 wrong usage, 3 changes are pending (--dry-run).`

type ApplyOptions = Settings & { file: string[]; dryRun?: boolean; yes?: boolean; prune?: boolean; writeSecrets?: boolean }

/** `dendro apply`: makes the configuration of the organization that of YAML files. */
export function applyCommand(plain: Terminal, globals: () => Settings): Command {
  const command = new Command('apply')
    .description('Make the configuration of the organization that of YAML files, as dendro export-config writes them.')
    .requiredOption('-f, --file <path>', 'a file, a folder with .yaml files, or - for standard input; may be repeated', collect)
    .option('--dry-run', 'only show the changes; exit status 3 if there are any')
    .option('--yes', 'make the changes without confirmation')
    .option('--prune', 'delete objects that the files do not have, of the kinds that the files have')
    .option('--write-secrets', 'write all secrets again; the service never returns them, so that a changed one is not seen')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: ApplyOptions) => {
    const settings = { ...globals(), ...options }
    const documents = await withIncludedFiles(await readConfigFiles(options.file, plain), kinds)
    const references = new References()
    const { prepared, problems } = prepareDocuments(documents, { kinds, references, env: plain.env })
    const used = new Map(prepared.flatMap(({ filled }) => [...filled.used]))
    const terminal = withHiddenValues(plain, used)
    checkProblems(problems, used)
    if (prepared.length === 0) throw new ConfigError(['the files have no document'])
    const service = { client: await connect(settings, terminal, 'credential'), signal: terminal.signal }
    const inventory = openInventory(service, kinds)
    const planned = { kinds, prune: options.prune === true, writeSecrets: options.writeSecrets === true }
    const plan = await planChanges(prepared, inventory, references, planned)
    checkProblems(plan.problems, used)
    showPlan(plan, settings, terminal)
    if (plan.changes.length === 0) return
    if (options.dryRun) throw new PendingChanges(`${changeCount(plan.changes)} pending`)
    if (!options.yes && !(await confirmed(plan, options, terminal))) throw new Error('nothing was changed')
    const onDone = (change: Change) => terminal.err(`${done[change.action]} ${change.kind.name} ${escapeControls(change.name)}`)
    const setting = { service, inventory, references, send: sendWithin(terminal.signal), onDone }
    await applyChanges(plan.changes, setting).catch((thrown: unknown) => {
      throw thrown instanceof ChangeFailure ? new Error(hideValues(failureText(thrown, plan), used), { cause: thrown }) : thrown
    })
    terminal.err(`${changeCount(plan.changes)} made`)
  })
}

type UsedValues = ReadonlyMap<string, string>

/** Values of the environment may be secrets, so that no line shows them. */
const withHiddenValues = (terminal: Terminal, used: UsedValues): Terminal => ({
  ...terminal,
  out: (line) => terminal.out(hideValues(line, used)),
  err: (line) => terminal.err(hideValues(line, used)),
})

function checkProblems(problems: readonly string[], used: UsedValues): void {
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => hideValues(problem, used)))
}

const collect = (path: string, before: string[] = []): string[] => [...before, path]

const done = { create: 'created', change: 'changed', order: 'changed', delete: 'deleted' } as const

function showPlan(plan: Plan, settings: Settings, terminal: Terminal): void {
  if (settings.output && settings.output !== 'table') show(planRows(plan), settings.output, terminal)
  else for (const line of planLines(plan, painterFor(terminal))) terminal.out(line)
  terminal.err(planSummary(plan))
}

async function confirmed(plan: Plan, { file }: ApplyOptions, terminal: Terminal): Promise<boolean> {
  if (!terminal.isInteractive || file.includes('-'))
    throw new UsageError(`${changeCount(plan.changes)} pending; --yes makes them without confirmation, --dry-run only shows them`)
  return /^y(es)?$/i.test((await terminal.readLine(`Make ${changeCount(plan.changes)}? [y/N] `)).trim())
}

/** Lists the changes that were not made; the others are already printed. */
function failureText({ change, reason, done: count }: ChangeFailure, { changes }: Plan): string {
  const left = changes.slice(count).map(({ action, kind, name }) => `  not ${done[action]}: ${kind.name} ${name}`)
  return [
    `${change.kind.name} ${change.name} could not be ${done[change.action]}: ${describeFailure(reason).lines.join('\n')}`,
    `${count} of ${changeCount(changes)} made:`,
    ...changes.slice(0, count).map(({ action, kind, name }) => `  ${done[action]}: ${kind.name} ${name}`),
    ...left,
    'The same command makes the others, once the cause is removed.',
  ].join('\n')
}
