import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, makeEngines, pidOf, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { damaged, postOf } from './blocks.fixture.ts'
import type { Post, PostResult } from './post.ts'
import { type EventWriter, openEventWriter } from './writer.ts'

const engines = makeEngines()
let store: EventStore
let writer: EventWriter
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
  writer = await openEventWriter(store, testDeps)
})
afterAll(async () => {
  await writer?.close()
  await engines.cleanUp()
})

/** The answer to a post as a word, and its final outcome. */
async function written(post: Post, by = writer): Promise<{ answer: string; end: PostResult }> {
  const end = Promise.withResolvers<PostResult>()
  const answer = by.write({ ...post, onSettled: end.resolve }).then(
    ({ kind }) => kind,
    (failure) => `failed ${failure.status}`,
  )
  return { answer: await answer, end: await end.promise }
}

const rowsOf = ({ stored }: PostResult): number => stored.reduce((sum, { block }) => sum + block.rows, 0)
const storedIn = async (logId: string): Promise<number> =>
  Number((await ask<{ rows: string }>(store.writer, `select count() as rows from pattern_events_s where log_id = '${logId}'`))[0]?.rows)

test('the end of a stored post names its blocks and their numbers; a repeat stores nothing more', async () => {
  const post = postOf(['a', 'b'], { idempotencyKey: 7n })
  const first = await written(post)
  expect(first).toMatchObject({ answer: 'stored', end: { stored: [{ block: post.blocks[0] }], failure: undefined } })
  expect(first.end.stored[0]?.firstSeq).toBeGreaterThan(0n)
  expect(await written(post)).toEqual({ answer: 'duplicate', end: { stored: [], failure: undefined } })
  expect((await written({ ...post, bodyHash: 99n })).end).toMatchObject({ stored: [], failure: { status: 422 } })
})

test('the memory of a stored block is freed when it belongs to the writer, and kept otherwise', async () => {
  const owned = (post: Post): Post => ({ ...post, blocks: post.blocks.map((block) => ({ ...block, isOwned: true })) })
  const bytesOf = ({ blocks }: Post) =>
    blocks.flatMap(({ columns }) => columns.flatMap(({ bytes }) => (bytes.length > 16 ? bytes.length : [])))
  const lines = Array.from({ length: 2_000 }, (_, row) => `a line of the block with number ${row}`)
  const [stored, shared, refused] = [owned(postOf(lines)), postOf(lines), owned(damaged(postOf(lines)))]
  const before = [bytesOf(shared), bytesOf(refused)]
  expect((await Promise.all([stored, shared, refused].map((post) => written(post)))).map(({ answer }) => answer)).toEqual([
    'stored',
    'stored',
    'failed 400',
  ])
  // A group with a refused post was sent before, and the system may still read what was sent.
  expect([bytesOf(shared), bytesOf(refused)]).toEqual(before)
  const alone = owned(postOf(lines))
  expect((await written(alone)).answer).toBe('stored')
  expect(bytesOf(alone)).toEqual([])
  expect(await storedIn(alone.logId)).toBe(lines.length)
})

test('the outcome of a refused post is its failure, also when it was not admitted', async () => {
  expect(await written(damaged(postOf(['a', 'b'])))).toMatchObject({ answer: 'failed 400', end: { stored: [], failure: { status: 400 } } })
  const closed = await openEventWriter(store, testDeps)
  await closed.close()
  expect(await written(postOf(['a']), closed)).toMatchObject({ answer: 'failed 503', end: { stored: [], failure: { status: 503 } } })
})

test('when the engine is killed under load, the outcomes match the store exactly', async () => {
  const posts = Array.from({ length: 60 }, (_, n) =>
    postOf([`line ${n}`, 'more'], { logId: randomUUID(), idempotencyKey: n % 2 ? BigInt(n) : 0n }),
  )
  const ends = posts.map(async (post, n) => {
    if (n === 20) process.kill(pidOf(store), 'SIGKILL')
    return written(post)
  })
  const results = await Promise.all(ends)
  await expect.poll(() => store.health().status).toBe('ok')
  for (const [n, { answer, end }] of results.entries()) {
    const rows = await storedIn(posts[n]?.logId ?? '')
    expect(rowsOf(end)).toBe(rows)
    if (answer === 'stored') expect(rows).toBe(2)
  }
})

test('a writer that closes has reported every outcome', async () => {
  const closing = await openEventWriter(store, testDeps)
  let ended = 0
  const answers = Array.from({ length: 10 }, () =>
    closing.write({
      ...postOf(['x']),
      onSettled: () => {
        ended += 1
      },
    }),
  )
  await closing.close()
  expect(ended).toBe(10)
  await Promise.all(answers)
})
