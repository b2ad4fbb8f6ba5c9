import { type Client, type ClientOptions, contract, makeClient } from '@dendro/api'
import { UsageError } from './failure.ts'
import { type Profile, readProfiles } from './profiles.ts'
import type { Terminal } from './terminal.ts'

export type Connection = {
  url?: string | undefined
  key?: string | undefined
  token?: string | undefined
  profile?: string | undefined
}
export type CliClient = Client<typeof contract>

/** The service and the credential of a command, and where the credential is from. */
export type Access = { url: string; key: string | undefined; token: string | undefined; source: string | undefined }

const HOME = 'http://127.0.0.1:8080'

function checkedUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`${url} is not an http or https URL`)
  return url
}

/**
 * Finds the service and the credential: from options, else from the profile that an option names, else from the environment, else from the current
 * profile. The credential of a profile is sent only to the URL of that profile.
 */
export async function accessFor(given: Connection, terminal: Terminal): Promise<Access> {
  const { env } = terminal
  const named = given.profile ?? (env.DENDRO_PROFILE || undefined)
  const { current, profiles } = await readProfiles(terminal)
  const profile = profiles.get(named ?? current)
  if (named !== undefined && !profile) {
    const known = [...profiles.keys()].join(', ')
    throw new UsageError(`no profile ${named}; ${known === '' ? 'there are none: use dendro login' : `there are ${known}`}`)
  }
  const fromEnvironment = given.profile === undefined
  const url = checkedUrl(given.url ?? ((fromEnvironment && env.DENDRO_URL) || (profile?.url ?? HOME)))
  if (given.key || given.token) return { url, key: given.key, token: given.token, source: 'an option' }
  if (fromEnvironment && (env.DENDRO_API_KEY || env.DENDRO_TOKEN)) {
    return { url, key: env.DENDRO_API_KEY || undefined, token: env.DENDRO_TOKEN || undefined, source: 'the environment' }
  }
  if (!profile || !isSameService(profile, url)) return { url, key: undefined, token: undefined, source: undefined }
  return { url, key: profile.key, token: profile.token, source: `the profile ${named ?? current}` }
}

const isSameService = (profile: Profile, url: string): boolean =>
  URL.canParse(profile.url) && new URL(profile.url).href.replace(/\/+$/, '') === new URL(url).href.replace(/\/+$/, '')

/** Creates the client of a command. A missing credential fails before anything is sent. */
export async function connect(given: Connection, terminal: Terminal, need: 'credential' | 'none'): Promise<CliClient> {
  return clientOf(need === 'none' ? await accessFor(given, terminal) : await credentialFor(given, terminal))
}

/** The service and the credential of a command that needs one. */
export async function credentialFor(given: Connection, terminal: Terminal): Promise<Access> {
  const access = await accessFor(given, terminal)
  if (access.key || access.token) return access
  throw new UsageError('no credential: use dendro login, set DENDRO_API_KEY, or use --key')
}

export const clientOf = (access: Pick<Access, 'url' | 'key' | 'token'>): CliClient => makeClient(contract, clientOptions(access))

export const clientOptions = ({ url, key, token }: Pick<Access, 'url' | 'key' | 'token'>): ClientOptions => ({
  baseUrl: url,
  key: key || undefined,
  token: token || undefined,
  headers: { 'user-agent': 'dendro-cli' },
})
