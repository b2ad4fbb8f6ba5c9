import { describe, expect, test } from 'vitest'
import { newSharedTime, sharedTime } from './shared-time.ts'

describe('a time axis of several charts', () => {
  const [one, other] = [{}, {}]

  test('a moment that one chart reads reaches all that follow, once for each change', () => {
    const time = newSharedTime()
    const read: (number | undefined)[] = []
    const stop = time.follow(() => read.push(time.now()?.atMs))
    time.read(one, 10)
    time.read(one, 10)
    time.read(other, 20)
    stop()
    time.read(one, 30)
    expect(read).toEqual([10, 20])
  })

  test('a reading ends with the chart that reads, not with another', () => {
    const time = newSharedTime()
    time.read(one, 10)
    time.release(other)
    expect(time.now()?.atMs).toBe(10)
    time.release(one)
    expect(time.now()).toBeUndefined()
  })

  test('a part that stays is the same object', () => {
    const time = newSharedTime()
    time.read(one, 10, { fromMs: 0, toMs: 20 })
    const part = time.now()?.part
    time.read(one, 15, { fromMs: 0, toMs: 20 })
    expect(time.now()?.part).toBe(part)
    time.read(one, 25, { fromMs: 0, toMs: 30 })
    expect(time.now()?.part).toEqual({ fromMs: 0, toMs: 30 })
  })

  test('charts with one key have one axis', () => {
    expect(sharedTime('explore')).toBe(sharedTime('explore'))
    expect(sharedTime('explore')).not.toBe(sharedTime('service'))
  })
})
