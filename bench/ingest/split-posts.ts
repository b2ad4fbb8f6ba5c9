import type { Shredded, ShredTarget } from '../../server/src/ingest/intake/worker-messages.ts'
import { PostProcessor } from '../../server/src/ingest/post-processor.ts'
import { type DatasetLayout, growLayout } from '../../server/src/lines/layout/catalog.ts'

/** The arrival of all posts. */
export const ARRIVED_MS = Date.UTC(2025, 10, 21)
const LOG_ID = '00000000-0000-4000-8000-000000000001'

/** Splits posts to one dataset, which gets slots as in the service, and may have ingest rules. */
export function splitter(rules?: ShredTarget['rules']): (body: Buffer) => Extract<Shredded, { kind: 'blocks' }> {
  const work = new PostProcessor()
  const request = { path: '/ingest', query: {}, headers: {}, contentType: '' }
  const target = {
    batches: [0],
    orgNumber: 1,
    logId: LOG_ID,
    attributes: [],
    rules,
    parser: undefined,
    lineTime: undefined,
  } satisfies Partial<ShredTarget>
  let layout: DatasetLayout | undefined
  return (body) => {
    work.run(1, { kind: 'parse', receiver: 'native', request: { ...request, body }, wantsHash: false })
    for (let isLast = false; ; isLast = layout !== undefined) {
      const targets = [{ ...target, map: layout?.map, isLast }]
      const reply = work.run(1, { kind: 'shred', atMs: ARRIVED_MS, origin: '10.0.0.1', targets })
      const [one] = 'shredded' in reply ? reply.shredded : []
      if (one?.kind === 'blocks') {
        work.forget(1)
        return one
      }
      if (one) layout = growLayout(layout, one, new Map())
    }
  }
}
