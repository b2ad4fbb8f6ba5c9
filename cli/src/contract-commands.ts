import { readFile } from 'node:fs/promises'
import {
  type Contract,
  contract,
  type Endpoint,
  type JsonSchema,
  type OpenApiOperation,
  openApiDocument,
  pathNames,
  propertiesOf,
  requiredOf,
  resolveShape,
  titleOf,
  wordOf,
} from '@dendro/api'
import { Command, Option } from 'commander'
import { type CliClient, type Connection, connect } from './connection.ts'
import { explained, UsageError } from './failure.ts'
import { type Format, formats, show } from './output.ts'
import type { Terminal } from './terminal.ts'
import { type ComponentSchemas, kindOf, metavar, type OptionKind, readJson, readValue, repeats } from './values.ts'

/** An option that sets a query parameter or a body member. */
type Field = { name: string; flag: string; place: 'query' | 'body'; kind: OptionKind; required: boolean; description: string }

/** The settings that every command shares. */
export type Settings = Connection & { output?: Format }

/**
 * Creates `dendro <noun> <verb>` for every endpoint of the contract. With `words`, only nouns that occur in them get their verbs, which starts the
 * program faster. `own` are the endpoints with hand-written commands.
 */
export function contractCommands(
  terminal: Terminal,
  globals: () => Settings,
  words?: readonly string[],
  own: readonly string[] = [],
): Command[] {
  const described = Object.entries(contract as Contract).filter(([noun]) => words === undefined || words.includes(wordOf(noun)))
  const document = openApiDocument(Object.fromEntries(described), { servers: [] })
  const schemas = document.components.schemas
  const operations = new Map(
    Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => [operation.operationId, operation] as const)),
  )
  return Object.entries(contract as Contract).flatMap(([noun, group]) => {
    const command = new Command(wordOf(noun))
    for (const [verb, endpoint] of Object.entries(group)) {
      const operation = operations.get(`${noun}.${verb}`)
      if (operation && !isForPages(endpoint) && !own.includes(`${wordOf(noun)} ${wordOf(verb)}`))
        command.addCommand(verbCommand({ noun, verb, endpoint, operation, schemas }, terminal, globals))
    }
    const verbs = Object.entries(group).flatMap(([verb, endpoint]) => (isForPages(endpoint) ? [] : [wordOf(verb)]))
    command.description(`${titleOf(noun)}: ${verbs.join(', ')}`)
    return verbs.length > 0 ? [command] : []
  })
}

/** True for the files of web pages, which need no command. */
const isForPages = ({ media }: Endpoint): boolean => media !== undefined && /^(text\/(html|css|javascript)|image\/)/.test(media)

type VerbContext = { noun: string; verb: string; endpoint: Endpoint; operation: OpenApiOperation; schemas: ComponentSchemas }

function verbCommand(place: VerbContext, terminal: Terminal, globals: () => Settings): Command {
  const { endpoint, operation } = place
  const fields = fieldsOf(place)
  const names = pathNames(endpoint.path)
  const command = new Command(wordOf(place.verb)).description(`${operation.summary}.`)
  if (operation.description) command.addHelpText('after', `\n${operation.description}`)
  for (const name of names) command.argument(`<${wordOf(name)}>`, descriptionOfParameter(operation, name))
  for (const option of fields.flatMap(optionsOf)) command.addOption(option)
  const taken = new Set(fields.map((field) => field.flag))
  if (endpoint.takes) command.option('--body <text>', `the body (${endpoint.takes.join(', ')}): text, @file, or - for standard input`)
  else if (endpoint.body && !taken.has('--body')) command.option('--body <json>', 'the whole body: JSON, @file, or - for standard input')
  addConnection(command, taken)
  command.addHelpText('after', `\n${endpoint.method} ${endpoint.path}\n${whoMay(operation)}`)
  command.action(async (...given: unknown[]) => {
    const options = given[names.length] as Record<string, unknown>
    const own = connectionOf(options, taken)
    const settings = { ...globals(), ...own }
    const client = await connect(settings, terminal, endpoint.permission === 'public' ? 'none' : 'credential')
    const params = Object.fromEntries(names.map((name, index) => [name, String(given[index])]))
    const body = await bodyOf(endpoint, fields, options, terminal)
    const query = valuesOf(fields, 'query', options)
    const sent = typeof body === 'object' && body !== null ? { ...query, ...body } : query
    show(await explained(sent, call(client, place, { params, query, body }, terminal.signal)), settings.output ?? 'table', terminal)
  })
  return command
}

type Call = { params: object; query: object; body: unknown }

/** Calls the endpoint. Commands and client come from the same contract, so the names exist. */
function call(client: CliClient, { noun, verb }: VerbContext, given: Call, signal: AbortSignal): Promise<unknown> {
  const group = (client as unknown as Record<string, Record<string, (given: Call & { signal: AbortSignal }) => Promise<unknown>>>)[noun]
  const send = group?.[verb]
  if (!send) throw new Error(`the client has no ${noun}.${verb}`)
  return send({ ...given, signal })
}

const whoMay = (operation: OpenApiOperation): string => {
  const permission = operation['x-permission']
  if (permission === 'public') return 'Needs no credential.'
  return permission === 'any' ? 'Needs any valid credential.' : `Needs the permission ${permission} (${operation['x-roles'].join(', ')}).`
}

function descriptionOfParameter(operation: OpenApiOperation, name: string): string {
  const parameter = operation.parameters?.find((candidate) => candidate.in === 'path' && candidate.name === name)
  return parameter?.description ?? (parameter?.schema.format === 'uuid' ? 'UUID' : '')
}

function fieldsOf({ operation, schemas }: VerbContext): Field[] {
  const inQuery = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map((parameter) =>
      field(
        parameter.name,
        { ...parameter.schema, description: parameter.description },
        { place: 'query', required: parameter.required },
        schemas,
      ),
    )
  const body = operation.requestBody?.content['application/json']?.schema
  const required = body ? requiredOf(resolveShape(body, schemas)) : []
  const members = body ? propertiesOf(resolveShape(body, schemas)) : []
  const inBody = members
    .filter(([name]) => !inQuery.some((known) => known.name === name))
    .map(([name, schema]) => field(name, schema, { place: 'body', required: required.includes(name) }, schemas))
  return [...inQuery, ...inBody]
}

function field(name: string, schema: JsonSchema, at: { place: Field['place']; required: boolean }, schemas: ComponentSchemas): Field {
  const kind = kindOf(schema, schemas)
  const words = kind.kind === 'text' ? kind.words : kind.kind === 'list' && kind.item.kind === 'text' ? kind.item.words : undefined
  const parts = [
    at.required ? 'required' : '',
    typeof schema.description === 'string' ? schema.description.replaceAll('`', '').replace(/\.$/, '') : '',
    words ? `one of ${words.join(', ')}` : '',
    repeats(kind) ? 'may be repeated' : '',
  ]
  return { name, flag: `--${name.replaceAll('_', '-')}`, ...at, kind, description: parts.filter((part) => part !== '').join('; ') }
}

/** Returns the option of a field; a boolean has two, one per value. */
function optionsOf({ flag, kind, description }: Field): Option[] {
  if (kind.kind === 'boolean') return [new Option(flag, description), new Option(`--no-${flag.slice(2)}`, 'the opposite')]
  const collect = (word: string, before: unknown) => [...(Array.isArray(before) ? before : []), word]
  return [new Option(`${flag} ${metavar(kind)}`, description).argParser(collect)]
}

const CONNECTION = 'Connection and output:'
const connectionFlags = [
  ['--url <address>', 'the service (DENDRO_URL)'],
  ['--key <key>', 'an API key (prefer DENDRO_API_KEY, which the process list does not show)'],
  ['--token <token>', 'a bearer token (DENDRO_TOKEN)'],
  ['--profile <name>', 'a profile of dendro login (DENDRO_PROFILE)'],
] as const

/** Adds the options of every command. If an endpoint has a field of the same name, they must stand before the noun. */
export function addConnection(command: Command, taken: ReadonlySet<string> = new Set()): Command {
  for (const [flags, description] of connectionFlags) {
    if (!taken.has(flags.split(' ')[0] ?? '')) command.addOption(new Option(flags, description).helpGroup(CONNECTION))
  }
  if (!taken.has('--output')) command.addOption(new Option('--output <format>', 'output format').choices(formats).helpGroup(CONNECTION))
  return command
}

function connectionOf(options: Record<string, unknown>, taken: ReadonlySet<string>): Settings {
  const own = ['url', 'key', 'token', 'profile', 'output'].filter((name) => !taken.has(`--${name}`) && options[name] !== undefined)
  return Object.fromEntries(own.map((name) => [name, options[name]]))
}

/** The parser's name of an option. */
const keyOf = (flag: string): string => flag.slice(2).replaceAll(/-([a-z\d])/g, (_, initial: string) => initial.toUpperCase())

function valuesOf(fields: readonly Field[], place: Field['place'], options: Record<string, unknown>): Record<string, unknown> {
  const given = fields.filter((candidate) => candidate.place === place && options[keyOf(candidate.flag)] !== undefined)
  return Object.fromEntries(
    given.map(({ name, flag, kind }) => {
      const words = options[keyOf(flag)]
      return [name, readValue(flag, kind, Array.isArray(words) ? words.map(String) : [String(words)])]
    }),
  )
}

/** Merges the value of --body with the members from options, which take precedence. */
async function bodyOf(
  endpoint: Endpoint,
  fields: readonly Field[],
  options: Record<string, unknown>,
  terminal: Terminal,
): Promise<unknown> {
  if (endpoint.takes) return typeof options.body === 'string' ? bodyText(options.body, terminal) : ''
  if (!endpoint.body) return undefined
  const given = typeof options.body === 'string' ? readJson('--body', await bodyText(options.body, terminal)) : undefined
  const members = valuesOf(fields, 'body', options)
  if (Object.keys(members).length === 0) return given ?? (endpoint.body.safeParse(undefined).success ? undefined : {})
  if (given !== undefined && (typeof given !== 'object' || given === null || Array.isArray(given))) {
    throw new UsageError('--body is not an object, so options cannot set its members')
  }
  return { ...given, ...members }
}

/** The text of a --body option: a text, `@file`, or `-` for standard input. */
export async function bodyText(word: string, terminal: Terminal): Promise<string> {
  if (word === '-') return terminal.readInput()
  if (!word.startsWith('@')) return word
  return readFile(word.slice(1), 'utf8').catch((cause) => {
    throw new UsageError(`--body: ${cause instanceof Error ? cause.message : 'the file cannot be read'}`)
  })
}
