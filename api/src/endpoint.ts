import type { z } from 'zod'
import type { Permission } from './permissions.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The origin of an endpoint: S stated by the specification, C core, X extension, D Dendro's own. */
export type Tier = 'S' | 'C' | 'X' | 'D'

/**
 * One entry of the contract. Validation, handler types, permission checks, the client, OpenAPI, the reference page, the CLI and the
 * contract laws derive from it.
 */
export type Endpoint = {
  method: Method
  /** Names its parameters in braces; a parameter is a UUID unless `params` says otherwise. */
  path: `/${string}`
  aliases?: readonly `/${string}`[]
  /** The permission that the caller needs: `public` needs no credential, `any` just a valid one. */
  permission: Permission | 'public' | 'any'
  /** Opens the endpoint to callers without the permission: the user named in the path, or a member of the group in it. */
  exception?: 'self' | 'member'
  tier: Tier
  summary: string
  description?: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** A member of the query or the body that replaces the others: with it, all others are ignored, valid or not, except those of `besides`. */
  instead?: { readonly member: string; readonly besides: readonly string[] }
  /** The content types of a body that is not our JSON. The handler reads it as a stream; an empty body is allowed. */
  takes?: readonly string[]
  /** The format of failures where a wire protocol prescribes its own. */
  failure?: z.ZodType
  /** The content type of a reply that is not JSON. */
  media?: string
  /** status of success; 200 when absent, 204 when there is no reply. */
  status?: 200 | 201 | 202 | 204
  reply?: z.ZodType
  /** Further success statuses with the same response, and when they are sent. */
  otherStatuses?: Readonly<Record<number, string>>
  /** Those of them that have no body. */
  emptyStatuses?: readonly number[]
  /** The failure codes of this endpoint beyond 400, 401, 403, 429 and 500. */
  fails?: readonly number[]
}

export type ContractGroup = Readonly<Record<string, Endpoint>>
export type Contract = Readonly<Record<string, ContractGroup>>

/** Keeps the literal types of a declaration, so that handlers and the client know its exact shape. */
export const endpoint = <const E extends Endpoint>(declaration: E): E => declaration

type PathNames<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | PathNames<Rest> : never

export type ParamsOf<E extends Endpoint> = E['params'] extends z.ZodType
  ? z.output<E['params']>
  : { [Name in PathNames<E['path']>]: string }
export type QueryOf<E extends Endpoint> = E['query'] extends z.ZodType ? z.output<E['query']> : Record<never, never>
export type BodyOf<E extends Endpoint> = E['body'] extends z.ZodType ? z.output<E['body']> : undefined
export type ReplyOf<E extends Endpoint> = E['reply'] extends z.ZodType ? z.input<E['reply']> : undefined

/** The caller's input before defaults are filled in, for the types of the client. */
export type QueryInput<E extends Endpoint> = E['query'] extends z.ZodType ? z.input<E['query']> : Record<never, never>
export type BodyInput<E extends Endpoint> = E['takes'] extends readonly string[]
  ? string | Uint8Array<ArrayBuffer>
  : E['body'] extends z.ZodType
    ? z.input<E['body']>
    : undefined
export type ReplyOutput<E extends Endpoint> = E['reply'] extends z.ZodType ? z.output<E['reply']> : undefined

/** The success code of an endpoint. */
export const statusOf = (endpoint: Endpoint): number => endpoint.status ?? (endpoint.reply ? 200 : 204)

/** Lists the parameters of a path in order. */
export const pathNames = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
