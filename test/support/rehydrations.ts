import type { RehydratedFile, Rehydration } from '@dendro/api'
import { expect, vi } from 'vitest'
import { selectOrganization } from '../../server/src/resources/access/organizations/rows.ts'
import { storedEvents } from './stored-events.ts'
import type { TestApp, TestOrganization } from './world.ts'

/** A dataset of an organization, and where events are read back from. */
export type RehydrationStand = { readonly app: TestApp; readonly org: TestOrganization; readonly logId: string; readonly origin: object }

export async function makeStand(app: TestApp, originOf: (orgId: string) => object | Promise<object>): Promise<RehydrationStand> {
  const org = await app.newOrganization()
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'archive', dataset: 'app' } })
  return { app, org, logId: made.body.id, origin: await originOf(org.orgId) }
}

export const orderOf = ({ logId, origin }: RehydrationStand, more: object = {}) => ({ log_id: logId, origin, ...more })

/** Creates a rehydration and waits until it has ended. */
export async function rehydrate(stand: RehydrationStand, more: object = {}): Promise<Rehydration> {
  const made = await stand.org.ask<Rehydration>('POST', '/rehydrations', { body: orderOf(stand, more) })
  expect(made.status, JSON.stringify(made.body)).toBe(202)
  return untilEnded(stand, made.body.id)
}

export const untilEnded = ({ org }: RehydrationStand, id: string): Promise<Rehydration> =>
  vi.waitFor(
    async () => {
      const { body } = await org.ask<Rehydration>('GET', `/rehydrations/${id}`)
      expect(body.ended_at, JSON.stringify(body)).toBeDefined()
      return body
    },
    { timeout: 240_000, interval: 200 },
  )

export const receiptsOf = async ({ org }: RehydrationStand, { id }: Rehydration): Promise<RehydratedFile[]> =>
  (await org.ask<{ files: RehydratedFile[] }>('GET', `/rehydrations/${id}/files`)).body.files

export async function eventsIn({ app, org, logId }: RehydrationStand) {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)
}

export const linesIn = async (stand: RehydrationStand): Promise<string[]> => (await eventsIn(stand)).map(({ line }) => line).toSorted()

export const numbered = (from: number, count: number): string[] =>
  Array.from(
    { length: count },
    (_, n) => `2026-11-20T08:00:${String(from + n).padStart(2, '0')}.000Z info event ${from + n} of the application`,
  )
export const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
