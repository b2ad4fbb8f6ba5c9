/** The program that the kill loop kills: an event store, a writer, and its parent as the only caller. Argument: the data directory. */

import { ask, pidOf, testDeps } from '../../server/src/events/store/engine.fixture.ts'
import { openEventStore } from '../../server/src/events/store/events.ts'
import { DAY_START_MS, postOf } from '../../server/src/events/writer/blocks.fixture.ts'
import { openEventWriter } from '../../server/src/events/writer/writer.ts'
import type { Failure } from '../../server/src/kernel/errors.ts'

export type ToProgram =
  | { kind: 'write'; post: number; rows: number; isSplit: boolean; hasIdentity: boolean }
  | { kind: 'engine' }
  | { kind: 'count'; first: number; end: number }
  | { kind: 'numbers' }

/** What the store has of one request: events, distinct lines, and those of the previous day. */
export type Count = { post: number; events: number; lines: number; eve: number }

export type FromProgram =
  | { kind: 'ready' }
  | { kind: 'written'; post: number; answer: 'stored' | 'again' }
  | { kind: 'engine'; pid: number }
  | { kind: 'counts'; counts: readonly Count[] }
  | { kind: 'numbers'; events: number; numbers: number }

const LOGS = Array.from({ length: 20 }, (_, n) => `00000000-0000-4000-8000-0000000000${String(n).padStart(2, '0')}`)
const DAY_MS = 86_400_000

const store = await openEventStore({ dataDir: process.argv[2] ?? '', memoryBytes: 2 ** 30 }, testDeps)
const writer = await openEventWriter(store, testDeps)

const tell = (message: FromProgram): void => void process.send?.(message, () => undefined)

async function write({ post, rows, isSplit, hasIdentity }: Extract<ToProgram, { kind: 'write' }>): Promise<void> {
  const lines = Array.from({ length: rows }, (_, row) => `${post} ${row}`)
  const given = { logId: LOGS[post % LOGS.length] ?? '', idempotencyKey: hasIdentity ? BigInt(post) + 1n : 0n }
  // Some posts belong to another day, and some cross midnight and so take two inserts.
  const startMs = DAY_START_MS + (post % 7 === 0 ? DAY_MS : 0)
  const whole = postOf(lines, given, startMs)
  const split = isSplit
    ? [...postOf(lines.slice(1), given, startMs).blocks, ...postOf(lines.slice(0, 1), given, startMs - DAY_MS).blocks]
    : whole.blocks
  const answer = await writer.write({ ...whole, blocks: split }).then(
    () => 'stored' as const,
    (failure: Failure) => {
      if (failure.status !== 503) process.stderr.write(`post ${post}: ${failure.stack}\n`)
      return 'again' as const
    },
  )
  tell({ kind: 'written', post, answer })
}

async function hear(message: ToProgram): Promise<void> {
  switch (message.kind) {
    case 'write':
      return write(message)
    case 'engine':
      return tell({ kind: 'engine', pid: pidOf(store) })
    case 'count': {
      const number = "toUInt32(splitByChar(' ', raw)[1])"
      const counts = await ask<Count>(
        store.writer,
        `select ${number} as post, toUInt32(count()) as events, toUInt32(uniqExact(raw)) as lines,
           toUInt32(uniqExactIf(raw, endsWith(raw, ' 0'))) as eve from pattern_events_s
         where post >= ${message.first} and post < ${message.end} group by post`,
      )
      return tell({ kind: 'counts', counts })
    }
    case 'numbers': {
      const [found] = await ask<{ events: number; numbers: number }>(
        store.writer,
        'select toUInt32(count()) as events, toUInt32(uniqExact(seq)) as numbers from pattern_events_s',
      )
      return tell({ kind: 'numbers', events: found?.events ?? 0, numbers: found?.numbers ?? 0 })
    }
  }
}

async function leave(): Promise<void> {
  await writer.close()
  await store.close()
  process.exit(0)
}

process.on('message', (message: ToProgram) => void hear(message))
process.once('SIGTERM', () => void leave())
// Useless without its parent.
process.once('disconnect', () => process.exit(1))
tell({ kind: 'ready' })
