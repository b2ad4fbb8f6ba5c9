import { freeBytes } from '../kernel/memory.ts'
import { type DatasetLayout, growLayout } from '../lines/layout/catalog.ts'
import type { ShredTarget } from './intake/worker-messages.ts'
import { PostProcessor } from './post-processor.ts'
import { warmUpPosts } from './warm-up-lines.ts'

const JOB = 0

/**
 * Reads lines that nobody has sent, so that the code is compiled before the first post comes: reading it would take two to three times as long as a later one.
 * It works in steps of some milliseconds, each of which yields the number of lines that it has read. What is learned belongs to datasets that do not exist, and is forgotten with `work`.
 * A way to start a thread with compiled code would make this unnecessary.
 */
export function* warmUp(work = new PostProcessor()): Generator<number> {
  const layouts = new Map<number, DatasetLayout>()
  for (const { dataset, body } of warmUpPosts()) {
    const logId = `00000000-0000-4000-8000-${String(dataset).padStart(12, '0')}`
    const target = { batches: [0], orgNumber: 0, logId, attributes: [], rules: undefined, parser: undefined, lineTime: undefined }
    work.run(JOB, { kind: 'parse', receiver: 'native', request: { ...REQUEST, body }, wantsHash: true })
    for (let isLast = false; ; isLast = true) {
      const targets: ShredTarget[] = [{ ...target, map: layouts.get(dataset)?.map, isLast }]
      const reply = work.run(JOB, { kind: 'shred', atMs: ARRIVED_MS, origin: '', targets })
      const [shredded] = 'shredded' in reply ? reply.shredded : []
      if (shredded?.kind === 'keys') layouts.set(dataset, growLayout(layouts.get(dataset), shredded, new Map()))
      else {
        work.forget(JOB)
        freeBytes(body)
        for (const { columns } of shredded?.blocks ?? []) for (const { bytes } of columns) freeBytes(bytes)
        yield shredded?.rows ?? 0
        break
      }
    }
  }
}

const REQUEST = { path: '/ingest', query: {}, headers: {}, contentType: '' }
const ARRIVED_MS = Date.UTC(2025, 0, 3)
