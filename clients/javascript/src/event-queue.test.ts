import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventQueue, type QueuedEvent } from './event-queue.ts'

test('a queue keeps order and its bounds, whatever is added, taken and released', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('add' as const), bytes: fc.integer({ min: 1, max: 30 }) }),
    fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 5 }), bytes: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('release' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const bounds = { eventsMax: 12, bytesMax: 150 }
      const queue = new EventQueue(bounds)
      const waiting: QueuedEvent[] = []
      const taken: QueuedEvent[][] = []
      let number = 0
      for (const one of steps) {
        const held = [...waiting, ...taken.flat()]
        if (one.kind === 'add') {
          const event = { line: String(number), bytes: one.bytes }
          number += 1
          const fits = held.length < bounds.eventsMax && sum(held) + event.bytes <= bounds.bytesMax
          expect(queue.add(event)).toBe(fits)
          if (fits) waiting.push(event)
        } else if (one.kind === 'take') {
          const batch = queue.take(one.count, one.bytes)
          expect(batch).toEqual(waiting.splice(0, batch.length))
          expect(batch.length).toBeLessThanOrEqual(one.count)
          if (batch.length > 1) expect(sum(batch)).toBeLessThanOrEqual(one.bytes)
          if (batch.length > 0) taken.push(batch)
        } else {
          const batch = taken.shift()
          if (batch) queue.release(batch)
        }
        expect([queue.length, queue.waitingBytes]).toEqual([waiting.length, sum(waiting)])
      }
    }),
  )
})

const sum = (events: readonly QueuedEvent[]): number => events.reduce((total, { bytes }) => total + bytes, 0)
