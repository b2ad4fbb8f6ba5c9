import type { Endpoint } from '@dendro/api'
import type { Actor } from './actor.ts'

/** Exceptions decide who may use an endpoint without its permission. */
export type Exceptions = Record<'self' | 'member', (actor: Actor, params: Record<string, string>) => Promise<boolean>>

/** True when the caller may use an endpoint. It returns a promise only if an exception has to be checked. */
export function mayCall(exceptions: Exceptions, endpoint: Endpoint, actor: Actor, params: unknown): boolean | Promise<boolean> {
  const { permission, exception } = endpoint
  if (permission === 'public' || permission === 'any' || actor.permissions.has(permission)) return true
  // Exceptions are rights of a person. With a key of theirs they only read.
  if (actor.personalKey && endpoint.method !== 'GET') return false
  return exception ? exceptions[exception](actor, params as Record<string, string>) : false
}
