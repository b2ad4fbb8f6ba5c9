import type { EventDefaults, Identity, KeyQueryBudget, Permission } from '@dendro/api'
import { forbidden } from '../kernel/errors.ts'

/** RequestFacts describe a request before its body is read. */
export type RequestFacts = {
  correlationId: string
  /** The contract name of the endpoint, such as `datasets.create`. */
  action: string
  address: string
  userAgent: string
  /** The Accept header, for endpoints with more than one response format. */
  accept: string
  /** The Accept-Encoding header, for files that are kept compressed. */
  acceptEncoding?: string
  /** The Range header, for downloads. */
  range?: string
  /** Set for HEAD requests, which get headers only. */
  isHead?: true
  /** The start of absolute links, without a trailing slash. */
  baseUrl: string
}

/** The facts of work that the service does without a request. */
export const factsOfWork = (action: string): RequestFacts => ({
  correlationId: '',
  action,
  address: '',
  userAgent: '',
  accept: '',
  baseUrl: '',
})

/** An authenticated user or API key. It is cached, so it has no data of a single request. */
export type Principal = {
  orgId: string
  /** Identifies the organization in the event store, in four bytes per row. */
  orgNumber: number
  identity: Identity
  /** The e-mail address of a user, or the name of an API key. */
  name: string
  roles: readonly string[]
  permissions: ReadonlySet<Permission>
  /** Set for an API key that may be a parameter of an address. */
  allowedInAddress?: true
  /** Whether an API key may be used from an address; absent when it may from all. */
  mayCallFrom?: (address: string) => boolean
  /** When the API key expires, in Unix seconds. */
  expiresAtS?: number
  /** The limits of an API key's queries, below those of its roles. */
  queryBudget?: KeyQueryBudget
  /** Where the events of an API key go unless the request says otherwise. */
  eventDefaults?: EventDefaults
  /** The personal API key with which a user calls. It has only permissions of the user, and none that the user has without a permission. */
  personalKey?: { readonly id: string; readonly name: string }
  /** The session of a bearer token, which logging out ends. */
  sessionId?: string
}

/** A principal within one request. */
export type Actor = Principal & { facts: RequestFacts }

export const hasPermission = (actor: Principal, permission: Permission): boolean => actor.permissions.has(permission)

export const isUser = (actor: Principal, userId: string): boolean => actor.identity.type === 'USER_ID' && actor.identity.id === userId

/** The user and session of a bearer token. Whoever has only a key of a user must not get more by it: other keys, tokens or passwords. */
export function sessionOf({ identity, sessionId }: Principal): { userId: string; sessionId: string } {
  if (identity.type !== 'USER_ID' || sessionId === undefined)
    throw forbidden('this needs the bearer token of a user who has logged in; an API key is not enough')
  return { userId: identity.id, sessionId }
}
