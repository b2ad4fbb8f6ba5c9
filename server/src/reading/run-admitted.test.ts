import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import type { QueryClass, QuerySlot } from '../world.ts'
import { openAdmission } from './admission.ts'
import { prioritySettings } from './run-admitted.ts'

const admission = openAdmission(
  { running: 100, perOrg: 100, runningPerCredential: every(100), waitingPerCredential: every(100) },
  { clock: systemClock },
)

function every(otherwise: number) {
  return { otherwise, byRole: new Map<string, number>() }
}

/** The priority in the store of a query of a class, next to running ones. */
async function priorityOf(kind: QueryClass): Promise<number> {
  const ticket = admission.ticket({ class: kind, orgId: 'one', credential: kind, running: 100, waiting: 100 })
  const slot = await ticket.run({ signal: new AbortController().signal, waitMs: 1_000 }, async (granted: QuerySlot) => granted)
  return Number(prioritySettings(slot, undefined, undefined).priority)
}

test('an export gives way in the store to every query of another class, however many there are', async () => {
  const places = Array.from({ length: 50 }, () =>
    admission.ticket({ class: 'caller', orgId: 'one', credential: 'caller', running: 100, waiting: 100 }).hold(),
  )
  const others = await Promise.all((['caller', 'monitor', 'tail'] as const).map(priorityOf))
  const last = await priorityOf('export')
  for (const other of others) expect(last).toBeGreaterThan(other)
  expect(others[0]).toBeGreaterThan(50)
  for (const place of places) place.leave()
})
