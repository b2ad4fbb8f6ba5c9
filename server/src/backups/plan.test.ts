import { expect, test } from 'vitest'
import { type FoundBackup, nameAt, newManifest } from './manifest.ts'
import { latestBackup, nextBase, removable } from './plan.ts'

const DAY_MS = 86_400_000

/** A backup of a day, upon that of another day or complete. */
function backupOf(day: number, base: number | null, masterKey = 'ours'): FoundBackup {
  const name = nameAt(day * DAY_MS)
  const manifest = newManifest({
    name,
    base: base === null ? null : nameAt(base * DAY_MS),
    started_at_ms: day * DAY_MS,
    made_at_ms: day * DAY_MS,
    master_key: masterKey,
    events: { database: 'dendro', migrations: [], files: 1, bytes: 1, list: { bytes: 1, sha256: '' } },
    metadata: { migrations: [], tables: [], sequences: [] },
  })
  return { kind: 'complete', name, manifest }
}

const daysOf = (names: readonly string[]): number[] =>
  names.map((name) => Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)-(\d{3})Z/, 'T$1:$2:$3.$4Z')) / DAY_MS)
const chain = (days: readonly number[]): FoundBackup[] => days.map((day, at) => backupOf(day, at === 0 ? null : (days[at - 1] ?? null)))
const own = (backups: readonly FoundBackup[]) => ({ backups, masterKey: 'ours' })

test('six backups build upon a complete one, and then comes another complete one', () => {
  expect(nextBase(own([]), 'dendro')).toBeNull()
  for (let length = 1; length <= 6; length += 1) {
    const days = Array.from({ length }, (_, at) => at + 1)
    expect(nextBase(own(chain(days)), 'dendro')).toBe(nameAt(length * DAY_MS))
  }
  expect(nextBase(own(chain([1, 2, 3, 4, 5, 6, 7])), 'dendro')).toBeNull()
})

test('nothing builds upon backups of others, of another database, or with a missing base', () => {
  expect(nextBase(own([backupOf(1, null, 'theirs')]), 'dendro')).toBeNull()
  expect(nextBase(own(chain([1])), 'other')).toBeNull()
  expect(nextBase(own([backupOf(2, 1)]), 'dendro')).toBeNull()
  expect(nextBase(own([...chain([1]), { kind: 'unusable', name: nameAt(2 * DAY_MS), why: '' }]), 'dendro')).toBe(nameAt(DAY_MS))
})

test('old backups are removed once no kept one builds upon them, the latest of a chain first', () => {
  const backups = [...chain([1, 2, 3]), ...chain([4, 5])]
  expect(daysOf(removable(own(backups), 13.5 * DAY_MS, 10 * DAY_MS))).toEqual([3, 2, 1])
  expect(removable(own(backups), 12.5 * DAY_MS, 10 * DAY_MS)).toEqual([])
  expect(daysOf(removable(own(backups), 100 * DAY_MS, 10 * DAY_MS))).toEqual([3, 2, 1])
  expect(removable(own(backups), 100 * DAY_MS, undefined)).toEqual([])
})

test('of unfinished backups only the old ones of this deployment are removed, and none of others', () => {
  const unfinished = (day: number, masterKey: string): FoundBackup => ({
    kind: 'unfinished',
    name: nameAt(day * DAY_MS),
    masterKey,
    startedMs: day * DAY_MS,
  })
  const backups = [unfinished(1, 'ours'), unfinished(2, 'theirs'), backupOf(3, null, 'theirs'), ...chain([4]), unfinished(9.5, 'ours')]
  expect(daysOf(removable(own(backups), 10 * DAY_MS, DAY_MS))).toEqual([1])
})

test('the latest backup of this deployment is restored, and not a newer one of another deployment in the same place', () => {
  const backups = [...chain([1, 2]), backupOf(3, null, 'theirs')]
  const dayOf = (...given: Parameters<typeof latestBackup>) => daysOf([latestBackup(...given)?.name ?? '']).at(0)
  expect(dayOf(own(backups))).toBe(2)
  expect(dayOf(own(backups), 1.5 * DAY_MS)).toBe(1)
  expect(latestBackup(own(backups), DAY_MS / 2)).toBeUndefined()
  expect(dayOf(own(backups.slice(2)))).toBe(3)
})
