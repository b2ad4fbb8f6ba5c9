import { Secret } from '../../kernel/secret.ts'

export type StoreLogin = { user: string; password: Secret }

/** The address of the event store and its logins: the writer may do everything in the database, the reader may only read. */
export type StoreAddress = {
  /** Scheme, host and port. Passwords travel in headers. */
  url: string
  database: string
  cluster: string | undefined
  writer: StoreLogin
  /** Undefined when the address names no reader. The writer then reads, limited by settings of each query. */
  reader: StoreLogin | undefined
  /** Reads only the ledger, apart from queries of callers. An address cannot name it; the reader then does this too. */
  ledger?: StoreLogin
}

/** Allowed names of databases and clusters. They are written into statements unescaped. */
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
export const isIdentifier = (name: string): boolean => IDENTIFIER.test(name)
const DEFAULT_PORTS: ReadonlyMap<string, string> = new Map(Object.entries<string>({ 'http:': '8123', 'https:': '8443' }))
const PARAMETERS = ['cluster', 'reader']

/**
 * Parses http(s)://user:password@host:port/database?cluster=name&reader=user:password. Error messages do not repeat the address, since it
 * contains passwords.
 */
export function parseAddress(text: string): StoreAddress {
  if (!URL.canParse(text)) throw new Error('the address of the event store is not a URL')
  const url = new URL(text)
  const port = DEFAULT_PORTS.get(url.protocol)
  if (!port) throw new Error('the address of the event store must begin with http:// or https://')
  const database = decodeURIComponent(url.pathname.slice(1)) || 'dendro'
  if (!IDENTIFIER.test(database)) throw new Error('the database of the event store may have letters, digits and _ in its name')
  const cluster = url.searchParams.get('cluster') ?? undefined
  if (cluster !== undefined && !IDENTIFIER.test(cluster)) {
    throw new Error('the cluster of the event store may have letters, digits and _ in its name')
  }
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) throw new Error(`the address of the event store has the unknown parameter ${unknown} (${PARAMETERS})`)
  return {
    url: `${url.protocol}//${url.hostname}:${portIn(text) || port}`,
    database,
    cluster,
    writer: { user: decodeURIComponent(url.username) || 'default', password: new Secret(decodeURIComponent(url.password)) },
    reader: parseLogin(url.searchParams.get('reader')),
  }
}

/** The reverse of parseAddress. The text contains passwords. */
export function formatAddress({ url, writer, reader, cluster, database }: StoreAddress): string {
  const parameters = new URLSearchParams()
  if (cluster !== undefined) parameters.set('cluster', cluster)
  if (reader) parameters.set('reader', `${reader.user}:${reader.password.reveal()}`)
  const login = `${encodeURIComponent(writer.user)}:${encodeURIComponent(writer.password.reveal())}`
  return `${url.replace('//', `//${login}@`)}/${database}${parameters.size > 0 ? `?${parameters}` : ''}`
}

/** Reads the port under another scheme, since a URL drops the default port of its scheme. */
const portIn = (text: string): string => new URL(text.replace(/^https?:/i, 'any:')).port

function parseLogin(text: string | null): StoreLogin | undefined {
  if (text === null) return undefined
  const [, user, password] = /^([^:]+):(.*)$/s.exec(text) ?? []
  if (user === undefined || password === undefined) throw new Error('the reader of the event store must look like user:password')
  return { user, password: new Secret(password) }
}
