import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Reply } from '../support/world.ts'
import type { Params } from './endpoints.ts'

/** A response without what differs between any two requests. */
export const comparable = ({ status, body }: Reply, params: Params) => {
  const ids = Object.values(params)
  const text = ids.reduce((all, id) => all.replaceAll(id, 'ID'), JSON.stringify(body) ?? '')
  const made = status < 300 ? text.replaceAll(/"(created_at|modified_at)":\d+/g, '').replace(/"(id|metric_id)":"[0-9a-f-]{36}"/g, '') : text
  return { status, body: made.replace(/"correlation_id":"\w+"/, '') }
}

type Comparable = ReturnType<typeof comparable>
const ATTEMPTS = 3

/** Two requests have the same response. Successful ones may show the time, which can step on between them, so they get further attempts. */
export async function mustAnswerAlike(askBoth: () => Promise<readonly [Comparable, Comparable]>): Promise<void> {
  let [one, other] = await askBoth()
  for (let attempt = 1; attempt < ATTEMPTS && one.status < 300 && other.status < 300 && !isDeepStrictEqual(one, other); attempt += 1) {
    ;[one, other] = await askBoth()
  }
  expect(one).toEqual(other)
}

/** Replaces each id with a new one, equal ids with equal ones. */
export function renamer(): (uuid: string) => string {
  const renamed = new Map<string, string>()
  return (uuid) => {
    const fresh = renamed.get(uuid) ?? randomUUID()
    renamed.set(uuid, fresh)
    return fresh
  }
}
