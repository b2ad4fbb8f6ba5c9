import { expect } from 'vitest'
import { pathNames, statusOf } from '../../api/src/index.ts'
import type { Reply } from '../support/world.ts'
import { endpoints, fill, type Named } from './endpoints.ts'
import { type Ask, changesNothing, examples } from './examples.ts'
import { mustBeCounted } from './failure.ts'
import type { Maker, Stage } from './stage.ts'

/** What the laws of the contract send to an endpoint, and what every valid answer has. */

export type Credential = { key?: string; token?: string }

/** exampleFor is a valid request to the endpoint in the organization of the maker. */
export async function exampleFor({ name, endpoint }: Named, maker: Maker): Promise<Ask> {
  const example = examples[name]
  if (example) return example(maker)
  if (!endpoint.body && !endpoint.takes && pathNames(endpoint.path).length === 0) return {}
  throw new Error(`${name} takes a body or names a record: add an example of a valid request to it in test/contract/examples.ts`)
}

export const pathFor = ({ endpoint }: Named, ask: Ask, path: string = endpoint.path) =>
  fill(path, ask.params ?? {}) + (ask.query === undefined ? '' : `?${ask.query}`)

export const send = ({ app }: Stage, named: Named, ask: Ask, by: Credential, path?: string): Promise<Reply> =>
  app.ask(named.endpoint.method, pathFor(named, ask, path), {
    ...by,
    ...(ask.headers ? { headers: ask.headers } : {}),
    ...(ask.raw === undefined ? {} : { raw: ask.raw }),
    ...(ask.body === undefined ? {} : { body: ask.body }),
  })

export const admin = (maker: Maker, ask: Ask = {}): Credential =>
  ask.token === undefined ? { key: ask.key ?? maker.org.key } : { token: ask.token }

export const isOpen = ({ endpoint }: Named) => endpoint.permission === 'public'
export const guarded = endpoints.filter((named) => !isOpen(named))
export const withBody = endpoints.filter(({ endpoint }) => endpoint.body !== undefined)
export const withParams = endpoints.flatMap((named) =>
  pathNames(named.endpoint.path).map((param) => ({ ...named, param, law: `${named.name}.${param}` })),
)
export const changing = endpoints.filter(({ name, endpoint }) => endpoint.method !== 'GET' && changesNothing[name] === undefined)

export function mustSucceed(named: Named, reply: Reply): void {
  const { endpoint } = named
  expect(reply.status, JSON.stringify(reply.body)).toBe(statusOf(endpoint))
  expect(reply.headers.get('x-correlation-id')).toMatch(/^[\da-f]{32}$/)
  if (!isOpen(named)) mustBeCounted(reply)
  if (!endpoint.reply) {
    expect(reply.body).toBe('')
    return
  }
  const expected = endpoint.media ?? 'application/json'
  expect(reply.headers.get('content-type')?.split(';')[0]).toBe(expected.split(';')[0])
  const read = endpoint.reply.safeParse(reply.body)
  expect(read.error?.issues ?? []).toEqual([])
  expect(reply.body, 'the reply has members that the contract does not list').toEqual(read.data)
}

type AuditRecord = { action: string; outcome: string; actor?: object; correlation_id: string; entity_type: string }

export async function auditOf({ app }: Stage, key: string, reply: Reply): Promise<AuditRecord | undefined> {
  const id = reply.headers.get('x-correlation-id')
  const listed = await app.ask<{ audit: AuditRecord[] }>('GET', '/audit?limit=50', { key })
  return listed.body.audit.find((record) => record.correlation_id === id)
}
