import type { ConfigChanges } from '@dendro/api'
import type { Agent } from './agent.ts'
import { unifiedDiff } from './diff.ts'
import { type ChangeReport, type ConfigOperation, type Destination, KEY_VARIABLE, operationsFor } from './operations.ts'
import { warnMisplacedOptions } from './source-options.ts'

/** A configuration with its reasons and warnings. */
export type ConfigResult = { readonly config: string; readonly reasons: readonly string[]; readonly warnings: readonly string[] }
export type ConfigChangeResult = ConfigResult & { readonly diff: string }

/** Writes the file of a new agent; equal requests yield equal files. */
export function writeConfig(agent: Agent, changes: ConfigChanges, to: Destination): ConfigResult {
  const { report, reasons, warnings } = createReport()
  reportGeneralWarnings(agent, changes, to, report)
  const body = agent.apply('', operationsFor(changes, to, true, agent.batchSize), report)
  return { config: `${headerOf(agent)}${body}`, reasons, warnings }
}

/** Applies changes to an existing file; without any, makes it send to this deployment. */
export function changeConfig(agent: Agent, text: string, changes: ConfigChanges, to: Destination): ConfigChangeResult {
  const { report, reasons, warnings } = createReport()
  reportGeneralWarnings(agent, changes, to, report)
  const operations = operationsFor(changes, to, false)
  const done: readonly ConfigOperation[] =
    operations.length > 0 ? operations : operationsFor({}, to, true).filter(({ kind }) => kind === 'send')
  const config = agent.apply(text, done, report)
  return { config, reasons, warnings, diff: unifiedDiff(text, config) }
}

function createReport(): { report: ChangeReport; reasons: string[]; warnings: string[] } {
  const [reasons, warnings]: [string[], string[]] = [[], []]
  const once = (list: string[]) => (text: string) => void (list.includes(text) || list.push(text))
  return { report: { done: once(reasons), warn: once(warnings) }, reasons, warnings }
}

/** Warnings that apply to every agent. */
function reportGeneralWarnings(agent: Agent, changes: ConfigChanges, { url }: Destination, report: ChangeReport): void {
  for (const source of changes.sources ?? []) warnMisplacedOptions(source, report)
  if (changes.version !== undefined && isOlder(changes.version, agent.versionMin)) {
    report.warn(`${agent.displayName} ${changes.version} is older than ${agent.versionMin}, from which on everything here is known to it`)
  }

  if (changes.platform === 'windows' && changes.sources?.some(({ kind }) => kind === 'journald'))
    report.warn('there is no journal on Windows')
  if (new URL(url).protocol === 'http:')
    report.warn(`${url} is reached without TLS: the key can be read on the way unless it is a network of your own`)
  if (changes.options?.tls && new URL(url).protocol === 'http:')
    report.warn('TLS settings have no effect while the address begins with http:')
}

const headerOf = ({ displayName, versionMin, needs, comment }: Agent): string =>
  [
    `${displayName} ${versionMin} or newer sends logs to Dendro.`,
    `Needs ${needs}.`,
    `Set the variable ${KEY_VARIABLE} to an API key with the role IngestionApi.`,
  ]
    .map((line) => `${comment} ${line}\n`)
    .concat('\n')
    .join('')

/** Compares versions number by number. */
function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits)))
  for (const [index, number] of (other ?? []).entries()) if ((one?.[index] ?? 0) !== number) return (one?.[index] ?? 0) < number
  return false
}
