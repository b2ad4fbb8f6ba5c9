import type { Identity, Permission } from '@dendro/api'

/** RequestFacts are what is known of a request before anybody has looked at its content. */
export type RequestFacts = {
  correlationId: string
  /** action is the contract name of the endpoint, such as `datasets.create`. */
  action: string
  address: string
  userAgent: string
  /** accept is the caller's Accept header; only endpoints that answer in more than one form look at it. */
  accept: string
  /** range is the caller's Range header; only downloads look at it. */
  range?: string
  /** isHead says that only the headers of the answer are sent. */
  isHead?: true
  /** baseUrl is the start of absolute links, without a trailing slash. */
  baseUrl: string
}

/** Identified is what a credential turns out to be; it is cached, so it carries nothing of a single request. */
export type Principal = {
  orgId: string
  /** orgNumber is the organisation in the event store, where a row carries four bytes of it. */
  orgNumber: number
  identity: Identity
  /** name is how people know the actor: the e-mail of a user, the name of a key. */
  name: string
  roles: readonly string[]
  permissions: ReadonlySet<Permission>
  /** sessionId is set for bearer callers only: what logging out ends. */
  sessionId?: string
}

/** An Actor is an identified caller within one request. */
export type Actor = Principal & { facts: RequestFacts }

export const hasPermission = (actor: Principal, permission: Permission): boolean => actor.permissions.has(permission)

export const isUser = (actor: Principal, userId: string): boolean => actor.identity.type === 'USER_ID' && actor.identity.id === userId
