import type { ConfigChanges } from '@dendro/api'
import type { Agent } from './agent.ts'
import { unifiedDiff } from './diff.ts'
import { type Destination, KEY_VARIABLE, type Operation, operationsFor, type Told } from './operations.ts'
import { tellMisplaced } from './source-options.ts'

/** A Work is a configuration as it became, and what is to be said about it. */
export type Work = { readonly config: string; readonly reasons: readonly string[]; readonly warnings: readonly string[] }
export type Changed = Work & { readonly diff: string }

/** writeConfig makes the file of a new agent; the same wish always makes the same file. */
export function writeConfig(agent: Agent, wish: ConfigChanges, to: Destination): Work {
  const { told, reasons, warnings } = telling()
  tellGeneral(agent, wish, to, told)
  const body = agent.apply('', operationsFor(wish, to, true), told)
  return { config: `${headerOf(agent)}${body}`, reasons, warnings }
}

/** changeConfig does wishes to a file that is there; without a wish it makes it send to this deployment. */
export function changeConfig(agent: Agent, text: string, wish: ConfigChanges, to: Destination): Changed {
  const { told, reasons, warnings } = telling()
  tellGeneral(agent, wish, to, told)
  const operations = operationsFor(wish, to, false)
  const done: readonly Operation[] = operations.length > 0 ? operations : operationsFor({}, to, true).filter(({ kind }) => kind === 'send')
  const config = agent.apply(text, done, told)
  return { config, reasons, warnings, diff: unifiedDiff(text, config) }
}

function telling(): { told: Told; reasons: string[]; warnings: string[] } {
  const [reasons, warnings]: [string[], string[]] = [[], []]
  const once = (list: string[]) => (text: string) => void (list.includes(text) || list.push(text))
  return { told: { did: once(reasons), cannot: once(warnings) }, reasons, warnings }
}

/** tellGeneral says what is true of every agent. */
function tellGeneral(agent: Agent, wish: ConfigChanges, { url }: Destination, told: Told): void {
  for (const source of wish.sources ?? []) tellMisplaced(source, told)
  if (wish.version !== undefined && isOlder(wish.version, agent.versionMin)) {
    told.cannot(`${agent.displayName} ${wish.version} is older than ${agent.versionMin}, from which on everything here is known to it`)
  }

  if (wish.platform === 'windows' && wish.sources?.some(({ kind }) => kind === 'journald')) told.cannot('there is no journal on Windows')
  if (new URL(url).protocol === 'http:')
    told.cannot(`${url} is reached without TLS: the key can be read on the way unless it is a network of your own`)
  if (wish.options?.tls && new URL(url).protocol === 'http:') told.cannot('TLS settings have no effect while the address begins with http:')
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

/** isOlder compares versions number by number. */
function isOlder(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits)))
  for (const [index, number] of (other ?? []).entries()) if ((one?.[index] ?? 0) !== number) return (one?.[index] ?? 0) < number
  return false
}
