import { expect, test } from 'vitest'
import { encodeNative } from '../events/writer/native.ts'
import { lineKernel } from '../lines/kernel/kernel.ts'
import { emptySlotMap } from '../lines/layout/slots.ts'
import { rowsOf } from '../lines/reference/equals-reference.fixture.ts'
import { hostileLine, randomFrom } from '../lines/reference/generated-lines.fixture.ts'
import { PostProcessor } from './post-processor.ts'

const LOG_ID = '00000000-0000-4000-8000-000000000007'
const request = { path: '/ingest', query: {}, headers: {}, contentType: 'text/plain' }

function rowsFrom(work: PostProcessor, job: number, body: Buffer) {
  work.run(job, { kind: 'parse', receiver: 'native', request: { ...request, body: Uint8Array.from(body) }, wantsHash: false })
  const target = { batches: [0], orgNumber: 1, logId: LOG_ID, attributes: [], rules: undefined, parser: undefined, lineTime: undefined }
  const targets = [{ ...target, map: emptySlotMap('s'), isLast: true }]
  const reply = work.run(job, { kind: 'shred', atMs: Date.UTC(2026, 10, 21), origin: '10.0.0.1', targets })
  work.forget(job)
  const [one] = 'shredded' in reply ? reply.shredded : []
  if (one?.kind !== 'blocks') throw new Error('no blocks')
  return one.blocks.map((block) => [block.day, rowsOf(Buffer.concat([...encodeNative({ block, seq: 1n }, 0n)]))])
}

/** The bytes that the module says are in use by the block: no larger memory can be had. */
function breakColumns(): void {
  const kernel = lineKernel()
  kernel.viewed()
  kernel.words[(kernel.exports.columnsAt() - 16) >> 2] = 0x7fff0000
}

test('when the kernel fails on a post, the reference reads it, and the next one has a new instance', () => {
  const random = randomFrom(3)
  const posts = Array.from({ length: 4 }, () =>
    Buffer.concat([Buffer.from('{"first":1}\n'), ...Array.from({ length: 300 }, () => [hostileLine(random), Buffer.from('\n')]).flat()]),
  )
  const causes: unknown[] = []
  const [calm, broken] = [new PostProcessor(), new PostProcessor((cause) => causes.push(cause))]
  const wanted = posts.map((post, at) => rowsFrom(calm, at, post))
  const found = posts.map((post, at) => {
    if (at === 1 || at === 2) breakColumns()
    return rowsFrom(broken, at, post)
  })
  expect(found).toEqual(wanted)
  expect(causes).toHaveLength(2)
})
