import type { z } from 'zod'
import type { Permission } from './permissions.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A Tier says how binding an endpoint is: S stated by the mission, C core, X extension, D Dendro's own. */
export type Tier = 'S' | 'C' | 'X' | 'D'

/**
 * An Endpoint is one entry of the contract. Validation, handler types, permission checks, the client, OpenAPI,
 * the reference page, the CLI and the contract laws derive from it.
 */
export type Endpoint = {
  method: Method
  /** path names its parameters in braces; a parameter is a UUID unless `params` says otherwise. */
  path: `/${string}`
  aliases?: readonly `/${string}`[]
  /** permission is what the caller must hold: `public` needs no credential, `any` just a valid one. */
  permission: Permission | 'public' | 'any'
  /** exception opens the endpoint to callers without the permission: the user named in the path, or a member of the group in it. */
  exception?: 'self' | 'member'
  tier: Tier
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** takes lists the content types of a body that is not JSON of ours; who answers reads it as a stream, and an empty one is no failure. */
  takes?: readonly string[]
  /** failure is the form of failures where a wire protocol prescribes another than ours. */
  failure?: z.ZodType
  /** media is the content type of a reply that is not JSON. */
  media?: string
  /** status of success; 200 when absent, 204 when there is no reply. */
  status?: 200 | 201 | 202 | 204
  reply?: z.ZodType
  /** otherStatuses are further statuses of success with the same reply, and when they are answered. */
  otherStatuses?: Readonly<Record<number, string>>
  /** fails lists the failure codes beyond 400, 401, 403, 429 and 500 that this endpoint answers. */
  fails?: readonly number[]
  /** absent says why the service does not do this yet: everybody who may use the endpoint gets it with a 501. */
  absent?: string
  /** empty says why this list has no entries: what it would list is not built. */
  empty?: string
}

export type ContractGroup = Readonly<Record<string, Endpoint>>
export type Contract = Readonly<Record<string, ContractGroup>>

/** endpoint keeps the literal types of a declaration, so that handlers and the client know its exact shape. */
export const endpoint = <const E extends Endpoint>(declaration: E): E => declaration

type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never

export type ParamsOf<E extends Endpoint> = E['params'] extends z.ZodType
  ? z.output<E['params']>
  : { [Name in PathNames<E['path']>]: string }
export type QueryOf<E extends Endpoint> = E['query'] extends z.ZodType ? z.output<E['query']> : Record<never, never>
export type BodyOf<E extends Endpoint> = E['body'] extends z.ZodType ? z.output<E['body']> : undefined
export type ReplyOf<E extends Endpoint> = E['reply'] extends z.ZodType ? z.input<E['reply']> : undefined

/** What a caller hands in, before defaults are filled: the types of the client. */
export type QueryInput<E extends Endpoint> = E['query'] extends z.ZodType ? z.input<E['query']> : Record<never, never>
export type BodyInput<E extends Endpoint> = E['takes'] extends readonly string[]
  ? string | Uint8Array<ArrayBuffer>
  : E['body'] extends z.ZodType
    ? z.input<E['body']>
    : undefined
export type ReplyOutput<E extends Endpoint> = E['reply'] extends z.ZodType ? z.output<E['reply']> : undefined

/** statusOf is the success code of an endpoint. */
export const statusOf = (endpoint: Endpoint): number => endpoint.status ?? (endpoint.reply ? 200 : 204)

/** pathNames lists the parameters of a path in order. */
export const pathNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
