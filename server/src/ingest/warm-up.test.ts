import { expect, test } from 'vitest'
import { PostProcessor } from './post-processor.ts'
import { warmUp } from './warm-up.ts'
import { warmUpPosts } from './warm-up-lines.ts'

const lineCount = (body: Buffer): number =>
  body
    .toString()
    .split('\n')
    .filter((line) => line !== '').length

test('the lines of each form become rows, and no post is left', () => {
  const work = new PostProcessor()
  const read = [...warmUp(work)]
  const sent = [...warmUpPosts()].map(({ body }) => lineCount(body))
  expect(read).toEqual(sent)
  expect(() => work.run(0, { kind: 'shred', atMs: 0, origin: '', targets: [] })).toThrow('must be parsed')
})

test('every start reads the same lines', () => {
  const bodies = () => [...warmUpPosts(2, 4_096)].map(({ body }) => body.toString())
  expect(bodies()).toEqual(bodies())
  expect(new Set(bodies()).size).toBe(bodies().length)
})
