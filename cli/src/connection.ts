import { type Client, contract, makeClient } from '@dendro/api'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

export type Connection = { url?: string | undefined; key?: string | undefined; token?: string | undefined }
export type CliClient = Client<typeof contract>

const HOME = 'http://127.0.0.1:8080'

/** The URL of the service: from the option, else the environment, else this machine. */
export function addressOf(given: Connection, terminal: Terminal): string {
  const url = given.url ?? terminal.env.DENDRO_URL ?? HOME
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is not an http or https URL`)
  return url
}

/** Creates the client of a command. A missing credential fails before anything is sent. */
export function connect(given: Connection, terminal: Terminal, need: 'credential' | 'none'): CliClient {
  const key = given.key ?? terminal.env.DENDRO_API_KEY
  const token = given.token ?? terminal.env.DENDRO_TOKEN
  if (need === 'credential' && !key && !token) throw new UsageError('no credential: set DENDRO_API_KEY, or use --key')
  return makeClient(contract, {
    baseUrl: addressOf(given, terminal),
    key: key || undefined,
    token: token || undefined,
    headers: { 'user-agent': 'dendro-cli' },
  })
}
