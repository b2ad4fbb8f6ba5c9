import { expect, test } from 'vitest'
import type { EventStore } from '../../../events/store/events.ts'
import { selectRangeBytes } from './range-bytes.ts'

test('a store that does not answer in time is a 503', async () => {
  const query = () => Promise.reject(new DOMException('The operation was aborted due to timeout', 'TimeoutError'))
  const store = { ledger: { query } } as unknown as EventStore
  await expect(selectRangeBytes(store, 1, ['00000000-0000-0000-0000-000000000000'], { fromMs: 0, toMs: 1 })).rejects.toMatchObject({
    status: 503,
  })
})
