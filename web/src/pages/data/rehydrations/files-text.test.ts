import { expect, test } from 'vitest'
import { filesText } from './files-text.ts'

test.each([
  ['CREATED', 0, 'listing the files'],
  ['COMPLETE', 0, 'no file matches'],
  ['FAILED', 0, ''],
  ['CANCELLED', 0, ''],
  ['IN_PROGRESS', 1_200, '2 of 1,200 files, 5.0 MB'],
] as const)('a rehydration that is %s with %d files says: %s', (status, files, text) => {
  const isEnded = status !== 'CREATED' && status !== 'IN_PROGRESS'
  expect(filesText({ status, files, ended_files: 2, bytes: 5e6, ...(isEnded ? { ended_at: 1 } : {}) })).toBe(text)
})
