import type { CliClient } from '../connection.ts'

/** The members of a document, in the names of the contract. */
export type ConfigFields = Readonly<Record<string, unknown>>
export type Path = readonly (string | number)[]
export type Problem = { path: Path; message: string }

/** What a reference may name. Users, API keys and groups have no documents. */
export type ReferenceKind = 'api_key' | 'dataset' | 'group' | 'identity_provider' | 'integration' | 'role' | 'slack_workspace' | 'user'

/** Replaces a reference, the name or the id of another object. */
export type MapReference = (kind: ReferenceKind, reference: string, path: Path) => string

/** An object of the service; `fields` has ids where a document has names. */
export type Stored = {
  id: string
  fields: ConfigFields
  /** Created by the service itself; files neither change nor delete it. */
  isFixed?: boolean
  /** What an update needs besides the fields. */
  parts?: unknown
}

/** The service for one command. */
export type ConfigService = { client: CliClient; signal: AbortSignal }

/** Repeats a request while the service refuses it for its rate; it was not executed then. */
export type Send = <T>(request: () => Promise<T>) => Promise<T>

/** One kind of object that files describe. */
export type Kind = {
  name: string
  /** The file that an export writes. */
  file: string
  /** All members of a document, in the order of an export. */
  members: readonly string[]
  /** The identity of an object within its kind. */
  nameOf(fields: ConfigFields): string
  load(service: ConfigService): Promise<readonly Stored[]>
  /** How documents of other kinds refer to one of this kind: by a prefix and its name. */
  referredAs?: { kind: ReferenceKind; prefix: string }
  refersTo?: readonly ReferenceKind[]
  withReferences?(fields: ConfigFields, map: MapReference): ConfigFields
  /** Validates by the contract, and fills in defaults. */
  check(fields: ConfigFields): { fields: ConfigFields; problems: readonly Problem[] }
  /** Members that cannot change once an object exists. */
  neverChange?: readonly string[]
  /** Members whose text may be in another file, in the folder of the document, with the largest size of that file in bytes. */
  includes?: Readonly<Record<string, number>>
  /** Replaces what is too large to be compared and shown as it is by what `load` has in its place. */
  compared?(fields: ConfigFields): ConfigFields
  /** A member whose text is loaded for an export only; the export writes it into a file beside the documents. */
  contents?: {
    member: string
    /** The name of the file, from letters, digits and hyphens of the name of the object. */
    fileOf(name: string): string
    load(service: ConfigService, stored: Stored): Promise<string>
  }
  /** Members that keep their value when a document does not have them. */
  keeps?: readonly string[]
  /** True for a value that the service never returns. */
  isSecret?(path: Path): boolean
  /** True for a secret that a file must take from the environment. */
  needsEnvironment?(path: Path): boolean
  /** What a deletion takes with it. */
  removedWith?: string
  create(service: ConfigService, fields: ConfigFields, send: Send): Promise<string>
  /** Absent when an object is what its name says, so that nothing is left to change. */
  update?(service: ConfigService, change: { before: Stored; fields: ConfigFields }, send: Send): Promise<void>
  /** Puts all objects into an order. Present when their order has a meaning: it is that of the documents, and `load` lists them in it. */
  reorder?(service: ConfigService, ids: readonly string[], send: Send): Promise<void>
  remove(service: ConfigService, stored: Stored, send: Send): Promise<void>
}

/** Stands for a secret of the service. */
export const SECRET = '***'

export const isFields = (value: unknown): value is ConfigFields => typeof value === 'object' && value !== null && !Array.isArray(value)

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value)

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Changes the items of a list. Anything else stays, so that the validation sees it. */
export const mapItems = (value: unknown, change: (item: unknown, at: number) => unknown): unknown =>
  Array.isArray(value) ? value.map(change) : value

/** The given members, in their order, without those that are absent. */
export const pick = (fields: object, names: readonly string[]): ConfigFields =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, (fields as ConfigFields)[name]]] : [])))

/** Replaces one member, if it is present. */
export const withMember = (fields: ConfigFields, name: string, change: (value: unknown) => unknown): ConfigFields =>
  fields[name] === undefined ? fields : { ...fields, [name]: change(fields[name]) }
