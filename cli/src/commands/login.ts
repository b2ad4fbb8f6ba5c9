import { ApiFailure, type ApiKey, contract, makeClient } from '@dendro/api'
import { Command } from 'commander'
import { accessFor, type CliClient, clientOf, clientOptions, credentialFor } from '../connection.ts'
import { addConnection, type Settings } from '../contract-commands.ts'
import { UsageError } from '../failure.ts'
import { show } from '../output.ts'
import { type Profile, readProfiles, writeProfiles } from '../profiles.ts'
import type { Terminal } from '../terminal.ts'

const DEFAULT_PROFILE = 'default'
const EXAMPLES = `
Examples:
  dendro login --url https://logs.example.org                      # asks for an API key
  dendro login --url https://logs.example.org --email ada@shop.example    # asks for a password
  dendro login --profile staging --url http://127.0.0.1:9000 < key.txt
  dendro whoami --profile staging
  dendro profiles
  dendro logout

The profile is stored in $XDG_CONFIG_HOME/dendro/config.json (by default in ~/.config), readable only by you.
The environment variables DENDRO_URL and DENDRO_API_KEY take precedence over the current profile, --profile over both.`

type Me = Awaited<ReturnType<CliClient['auth']['me']>>

/** `dendro login`, `logout`, `whoami` and `profiles`. */
export const loginCommands = (terminal: Terminal, globals: () => Settings): Command[] => [
  loginCommand(terminal, globals),
  logoutCommand(terminal, globals),
  whoamiCommand(terminal, globals),
  profilesCommand(terminal, globals),
]

function loginCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('login')
    .description('Store the URL of a service and a credential as a profile, and make it the current one.')
    .option('--email <address>', 'log in as a user with a password, instead of an API key')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings & { email?: string }) => {
    const settings = { ...globals(), ...options }
    const name = settings.profile ?? terminal.env.DENDRO_PROFILE ?? DEFAULT_PROFILE
    const { profiles } = await readProfiles(terminal)
    const { url } = await accessFor(
      { url: settings.url ?? profiles.get(name)?.url },
      { ...terminal, env: { ...terminal.env, DENDRO_PROFILE: '' } },
    )
    const profile = await profileFor(url, { ...settings, email: options.email }, terminal)
    const me = await clientOf({ url, key: profile.key, token: profile.token }).auth.me({ signal: terminal.signal })
    const file = await writeProfiles(terminal, {
      current: name,
      profiles: new Map([...profiles, [name, { ...profile, name: nameOf(me) }]]),
    })
    terminal.out(`Logged in to ${url} as ${nameOf(me)}; profile ${name} in ${file}`)
  })
}

async function profileFor(
  url: string,
  { key, token, email }: Settings & { email: string | undefined },
  terminal: Terminal,
): Promise<Profile> {
  if ([key, token, email].filter((one) => one !== undefined).length > 1) throw new UsageError('give one of --key, --token and --email')
  if (email !== undefined) return withPassword(url, email, terminal)
  return token === undefined ? withKey(url, key, terminal) : { url, token }
}

async function withKey(url: string, given: string | undefined, terminal: Terminal): Promise<Profile> {
  const key = given ?? (await terminal.readSecret('API key: ')).trim()
  if (key === '') throw new UsageError('no API key was given')
  return { url, key }
}

async function withPassword(url: string, email: string, terminal: Terminal): Promise<Profile> {
  const password = await terminal.readSecret(`Password of ${email}: `)
  const { auth } = makeClient(contract, clientOptions({ url, key: undefined, token: undefined }))
  const logIn = (code?: string) =>
    auth.login({ body: { email, password, ...(code === undefined ? {} : { code }) }, signal: terminal.signal })
  const { token, expires_at } = await logIn().catch(async (thrown: unknown) => {
    if (!asksForCode(thrown)) throw thrown
    return logIn((await terminal.readSecret('Code of the second factor: ')).trim())
  })
  return { url, token, expires_at }
}

const asksForCode = (thrown: unknown): boolean =>
  thrown instanceof ApiFailure && (thrown.errors ?? []).some(({ code }) => code === 'SECOND_FACTOR_REQUIRED')

const nameOf = ({ user, api_key }: Me): string => (user ? user.email : api_key ? `the API key ${nameOfKey(api_key)}` : 'an unknown caller')
const nameOfKey = ({ name, api_key }: ApiKey): string => (name === '' ? api_key : name)

function logoutCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('logout').description('Remove a profile; a login with a password also ends at the service.')
  addConnection(command, new Set(['--url', '--key', '--token', '--output'])).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings) => {
    const { current, profiles } = await readProfiles(terminal)
    const name = options.profile ?? globals().profile ?? (terminal.env.DENDRO_PROFILE || current)
    const profile = profiles.get(name)
    if (!profile) throw new UsageError(`there is no profile ${name}`)
    const left = new Map([...profiles].filter(([one]) => one !== name))
    await writeProfiles(terminal, { current: name === current ? DEFAULT_PROFILE : current, profiles: left })
    // The profile is gone either way: an unreachable service must not keep a credential on this machine.
    if (profile.token !== undefined) {
      await clientOf({ url: profile.url, key: undefined, token: profile.token })
        .auth.logout({ signal: terminal.signal })
        .catch((thrown: unknown) => {
          terminal.err(`dendro: the service did not end the login: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
        })
    }
    terminal.out(`Removed profile ${name}`)
  })
}

function whoamiCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('whoami').description('Show the service, the caller, its roles and where the credential is from.')
  addConnection(command).addHelpText('after', EXAMPLES)
  return command.action(async (options: Settings) => {
    const settings = { ...globals(), ...options }
    const access = await credentialFor(settings, terminal)
    const me = await clientOf(access).auth.me({ signal: terminal.signal })
    const caller = { service: access.url, credential: access.source, caller: nameOf(me), organization: me.org_id, roles: me.roles }
    show(settings.output === 'json' || settings.output === 'ndjson' ? { ...caller, ...me } : caller, settings.output ?? 'table', terminal)
  })
}

function profilesCommand(terminal: Terminal, globals: () => Settings): Command {
  const command = new Command('profiles')
    .description('List the profiles, or make one the current one.')
    .argument('[name]', 'the profile to use')
  addConnection(command, new Set(['--url', '--key', '--token', '--profile'])).addHelpText('after', EXAMPLES)
  return command.action(async (name: string | undefined, options: Settings) => {
    const { current, profiles } = await readProfiles(terminal)
    if (name !== undefined) {
      if (!profiles.has(name)) throw new UsageError(`there is no profile ${name}`)
      await writeProfiles(terminal, { current: name, profiles })
      return terminal.out(`Using profile ${name}`)
    }
    const rows = [...profiles].map(([profile, { url, name: caller = '', token }]) => ({
      current: profile === current ? '*' : '',
      profile,
      service: url,
      caller,
      credential: token === undefined ? 'API key' : 'login',
    }))
    show(rows, options.output ?? globals().output ?? 'table', terminal)
  })
}
