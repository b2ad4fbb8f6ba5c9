import { expect, test } from 'vitest'
import { backupProblems, dueTasks } from './due.ts'
import type { BackupTaskRow } from './rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOW_MS = 1_000 * DAY_MS
const daily = { everyMs: DAY_MS, verifyEveryMs: 7 * DAY_MS }

const task = (kind: BackupTaskRow['task'], status: BackupTaskRow['status'], agoMs: number) => ({
  task: kind,
  status,
  created_at: NOW_MS - agoMs,
  made_at: status === 'COMPLETE' ? NOW_MS - agoMs : null,
  backup: 'a name',
})

test.each([
  ['the first backup at once, and no verification without one', [], ['BACKUP']],
  ['the first verification with the first backup', [task('BACKUP', 'COMPLETE', 1)], ['VERIFICATION']],
  ['nothing while both are recent', [task('BACKUP', 'COMPLETE', DAY_MS - 1), task('VERIFICATION', 'COMPLETE', DAY_MS)], []],
  ['the next backup after its interval', [task('BACKUP', 'COMPLETE', DAY_MS), task('VERIFICATION', 'COMPLETE', DAY_MS)], ['BACKUP']],
  ['nothing while one is made', [task('BACKUP', 'IN_PROGRESS', 9 * DAY_MS)], []],
  ['a failed one again soon', [task('BACKUP', 'FAILED', HOUR_MS), task('BACKUP', 'COMPLETE', DAY_MS)], ['BACKUP', 'VERIFICATION']],
  ['but not at once', [task('BACKUP', 'FAILED', 60_000)], []],
])('the schedule begins %s', (_, latest, due) => {
  expect(dueTasks(latest, daily, NOW_MS)).toEqual(due)
})

test('without an interval the schedule begins nothing and nothing is late', () => {
  expect(dueTasks([], { everyMs: undefined, verifyEveryMs: DAY_MS }, NOW_MS)).toEqual([])
  expect(backupProblems([task('BACKUP', 'FAILED', DAY_MS)], { everyMs: undefined, verifyEveryMs: DAY_MS }, NOW_MS)).toEqual([])
})

test('a backup that is damaged is reported also where backups are made on request only', () => {
  const damaged = [task('BACKUP', 'COMPLETE', 2), task('VERIFICATION', 'FAILED', 1)]
  const problems = ['the backup a name failed its verification']
  expect(backupProblems(damaged, { everyMs: undefined, verifyEveryMs: undefined }, NOW_MS)).toEqual(problems)
})

test.each([
  ['nothing before the first', [], []],
  ['nothing while all is recent', [task('BACKUP', 'COMPLETE', DAY_MS), task('VERIFICATION', 'COMPLETE', DAY_MS)], []],
  ['a first one that failed', [task('BACKUP', 'FAILED', 1)], ['no backup has been made: the last attempt failed']],
  ['an old backup', [task('BACKUP', 'COMPLETE', 3 * DAY_MS)], ['the last backup is 72 hours old']],
  [
    'a damaged backup',
    [task('BACKUP', 'COMPLETE', 1), task('VERIFICATION', 'FAILED', 1), task('VERIFICATION', 'COMPLETE', 2)],
    ['the backup a name failed its verification'],
  ],
  [
    'an old verification',
    [task('BACKUP', 'COMPLETE', 1), task('VERIFICATION', 'COMPLETE', 20 * DAY_MS)],
    ['the last verified backup is 480 hours old'],
  ],
])('health reports %s', (_, latest, problems) => {
  expect(backupProblems(latest, daily, NOW_MS)).toEqual(problems)
})
