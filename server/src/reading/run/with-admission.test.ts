import { expect, test } from 'vitest'
import { systemClock } from '../../kernel/clock.ts'
import type { QueryClass, QuerySlot } from '../../world.ts'
import { openAdmission } from './admission.ts'
import { noAdmissionWait, prioritySettings, runAdmitted } from './with-admission.ts'

const admission = openAdmission(
  { running: 100, perOrg: 100, perOrgShared: 100, reserved: 0, runningPerCredential: every(100), waitingPerCredential: every(100) },
  { clock: systemClock },
)

function every(otherwise: number) {
  return { otherwise, byRole: new Map<string, number>() }
}

/** Returns the priority in the store of a query of a class while others run. */
async function priorityOf(kind: QueryClass): Promise<number> {
  const ticket = admission.ticket({ class: kind, orgId: 'one', credential: kind, running: 100, waiting: 100 })
  const slot = await ticket.run({ signal: new AbortController().signal, waitMs: 1_000 }, async (granted: QuerySlot) => granted)
  return Number(prioritySettings(slot, undefined, undefined).priority)
}

test('an export has a lower priority in the store than every query of another class', async () => {
  const places = Array.from({ length: 50 }, () =>
    admission.ticket({ class: 'caller', orgId: 'one', credential: 'caller', running: 100, waiting: 100 }).hold(),
  )
  const others = await Promise.all((['caller', 'monitor', 'tail'] as const).map(priorityOf))
  const last = await priorityOf('export')
  for (const other of others) expect(last).toBeGreaterThan(other)
  expect(others[0]).toBeGreaterThan(50)
  for (const place of places) place.leave()
})

test('the statements of one query run concurrently, and fewer of them while another organization is active', async () => {
  const shared = openAdmission(
    { running: 8, perOrg: 6, perOrgShared: 2, reserved: 2, runningPerCredential: every(4), waitingPerCredential: every(8) },
    { clock: systemClock },
  )
  const ticketOf = (orgId: string) => shared.ticket({ class: 'caller', orgId, credential: orgId, running: 4, waiting: 8 })
  const wait = { signal: new AbortController().signal, waitMs: 60_000 }
  /** Returns the maximum number of concurrent statements of a query with six statements. */
  const mostAtOnce = async (orgId: string): Promise<number> => {
    const ticket = ticketOf(orgId)
    let [running, most] = [0, 0]
    const statement = async (): Promise<void> => {
      running += 1
      most = Math.max(most, running)
      for (let tick = 0; tick < 10; tick += 1) await Promise.resolve()
      running -= 1
    }
    await Promise.all(Array.from({ length: 6 }, () => ticket.run(wait, statement)))
    return most
  }
  expect(await mostAtOnce('one')).toBe(4)
  expect(await mostAtOnce('two')).toBe(2)
  expect(await mostAtOnce('one')).toBe(2)
})

test.each([
  [{ rank: 1, running: 1 }, undefined, undefined],
  [{ rank: 1, running: 2 }, undefined, '4'],
  [{ rank: 3, running: 2 }, undefined, '2'],
  [{ rank: 1, running: 100 }, undefined, '1'],
  [{ rank: 1, running: 2 }, 3, '3'],
])('queries that run at once share the processors: %j, a budget of %s', (slot, budget, threads) => {
  expect(prioritySettings({ ...slot, isLast: false }, budget, 8).max_threads).toBe(threads)
})

test('a server decides itself how many threads a query has', () => {
  expect(prioritySettings({ rank: 3, running: 3, isLast: false }, undefined, undefined).max_threads).toBeUndefined()
})

test.each([
  [8, '4'],
  [0, undefined],
])('queries that run at once share the %i threads of a server', async (threads, shared) => {
  const server = { engine: undefined, readerLimits: { queryBytes: 0, allBytes: 0, threads } }
  const threadsOf = (during?: () => Promise<unknown>) => {
    const query = {
      ticket: admission.ticket({ class: 'caller', orgId: 'server', credential: 'server', running: 100, waiting: 100 }),
      signal: new AbortController().signal,
      budget: { bytes: 1, rows: 1, seconds: 60, memoryBytes: 1, spillBytes: 1 },
      startedMs: 0,
      admissionWait: noAdmissionWait(),
    }
    return runAdmitted(server, query, 2, async ({ max_threads: own }) => [own, await during?.()])
  }
  expect(await threadsOf(threadsOf)).toEqual([undefined, [shared, undefined]])
})
