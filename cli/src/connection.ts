import { type Client, contract, makeClient } from '@dendro/api'
import { UsageError } from './failure.ts'
import type { Terminal } from './terminal.ts'

export type Connection = { url?: string | undefined; key?: string | undefined; token?: string | undefined }
export type DendroClient = Client<typeof contract>

const HOME = 'http://127.0.0.1:8080'

/** addressOf is the service to talk to: what the command says, else the environment, else this machine. */
export function addressOf(given: Connection, terminal: Terminal): string {
  const url = given.url ?? terminal.env.DENDRO_URL ?? HOME
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is no http or https address`)
  return url
}

/** connect makes the client that a command speaks through; a missing credential is said before anything is sent. */
export function connect(given: Connection, terminal: Terminal, need: 'credential' | 'none'): DendroClient {
  const key = given.key ?? terminal.env.DENDRO_API_KEY
  const token = given.token ?? terminal.env.DENDRO_TOKEN
  if (need === 'credential' && !key && !token) throw new UsageError('no credential: set DENDRO_API_KEY, or give --key')
  return makeClient(contract, {
    baseUrl: addressOf(given, terminal),
    key: key || undefined,
    token: token || undefined,
    headers: { 'user-agent': 'dendro-cli' },
  })
}
