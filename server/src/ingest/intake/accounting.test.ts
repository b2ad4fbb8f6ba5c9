import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LedgerPage } from '../../events/ledger/page.ts'
import { seqAt } from '../../events/writer/seq.ts'
import type { Actor } from '../../http/actor.ts'
import { badRequest, Failure, unavailable } from '../../kernel/errors.ts'
import { type DatasetShare, PostAccounting, reasonOf } from './accounting.ts'
import type { CountedBlock } from './worker-messages.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 10, 0)
const KEY = { type: 'API_KEY_ID', id: '11111111-1111-1111-1111-111111111111' } as const
const actor = { orgNumber: 7, identity: KEY } as Actor

/** Returns the accounting of a post and the resulting ledger rows. */
function open() {
  const page = new LedgerPage(randomUUID(), 0)
  const account = new PostAccounting({ note: (entry) => page.note(entry, NOW_MS) }, { actor, protocol: 'native' })
  return { account, page, cells: () => page.unwritten() }
}

function sumOf(cells: ReturnType<LedgerPage['unwritten']>): Record<string, number> {
  const names = ['received', 'stored', 'duplicate', 'rejected', 'wire_bytes'] as const
  return Object.fromEntries(names.map((name) => [name, cells.reduce((sum, { counts }) => sum + counts[name], 0)]))
}

const admission = { release: () => undefined }

const block = (rows: number): CountedBlock => ({
  tableClass: 's',
  periodS: 0,
  day: 0,
  rows,
  columns: [],
  bytes: rows,
  counts: { rawBytes: rows * 10, truncated: rows > 2 ? 1 : 0, late: rows > 3 ? 2 : 0 },
})

/** A generated outcome of a share: the blocks that are stored, and whether the sender got a success. */
const someShares = fc.array(
  fc.record({ rows: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }), stored: fc.nat(15), fails: fc.boolean() }),
  { maxLength: 4 },
)

test('received = stored + rejected + duplicate, and no byte is lost, whatever happens to the parts of a post', () => {
  fc.assert(
    fc.property(someShares, fc.nat(5), fc.nat(10_000), (given, unreadable, wireBytes) => {
      const { account, cells } = open()
      account.wireBytes = wireBytes
      const shares: DatasetShare[] = given.map(({ rows }) => ({
        logId: randomUUID(),
        rows: rows.reduce((sum, one) => sum + one, 0),
        blocks: rows.map(block),
      }))
      let seq = seqAt(NOW_MS)
      for (const [index, { share, ended }] of account.splitByDataset(shares, unreadable, admission).entries()) {
        const { stored, fails } = given[index] ?? { stored: 0, fails: true }
        const kept = share.blocks.filter((_, at) => (stored >> at) & 1)
        ended({
          stored: kept.map((one) => {
            seq += 10n
            return { block: one, firstSeq: seq }
          }),
          failure: fails ? unavailable('for a test') : undefined,
        })
      }
      account.noteRefused(unavailable('this comes on top'))
      const all = cells().map(({ counts }) => counts)
      const sum = (name: keyof (typeof all)[number]): number => all.reduce((total, counts) => total + counts[name], 0)
      expect(sum('received')).toBe(shares.reduce((total, { rows }) => total + rows, 0) + unreadable)
      expect(sum('stored') + sum('rejected') + sum('duplicate')).toBe(sum('received'))
      expect(sum('raw_bytes')).toBe(sum('stored') * 10)
      expect(sum('wire_bytes')).toBe(wireBytes)
      for (const counts of all) expect(counts.stored + counts.rejected + counts.duplicate).toBe(counts.received)
    }),
  )
})

test('a part that was stored after its sender got a 503 counts as stored', () => {
  const { account, cells } = open()
  const late = block(4)
  const [part] = account.splitByDataset([{ logId: randomUUID(), rows: 4, blocks: [late] }], 0, admission)
  part?.ended({ stored: [{ block: late, firstSeq: seqAt(NOW_MS) }], failure: unavailable('the store is slow') })
  expect(cells()[0]?.counts).toMatchObject({ received: 4, stored: 4, rejected: 0, truncated: 1, late: 2 })
})

test('a post that the service stores again after a failure counts once', () => {
  const { account: first, cells, page } = open()
  const again = new PostAccounting({ note: (entry) => page.note(entry, NOW_MS) }, { actor, protocol: 'native' })
  const [stored, left] = [block(2), block(5)]
  const share = { logId: randomUUID(), rows: 7, blocks: [stored, left] }
  first.wireBytes = 80
  first.willRepeat = () => true
  first
    .splitByDataset([share], 3, admission)[0]
    ?.ended({ stored: [{ block: stored, firstSeq: seqAt(NOW_MS) }], failure: unavailable('full') })
  again.wireBytes = 80
  again.isRepeated = true
  again.splitByDataset([share], 3, admission)[0]?.ended({ stored: [{ block: left, firstSeq: seqAt(NOW_MS) + 10n }], failure: undefined })
  expect(sumOf(cells())).toEqual({ received: 10, stored: 7, duplicate: 0, rejected: 3, wire_bytes: 80 })
})

test('a post that was stored after all and is repeated by the service counts once', () => {
  const { account: first, cells, page } = open()
  const again = new PostAccounting({ note: (entry) => page.note(entry, NOW_MS) }, { actor, protocol: 'native' })
  const one = block(4)
  const share = { logId: randomUUID(), rows: 4, blocks: [one] }
  first.wireBytes = 80
  first.willRepeat = () => true
  first.splitByDataset([share], 0, admission)[0]?.ended({ stored: [{ block: one, firstSeq: seqAt(NOW_MS) }], failure: unavailable('slow') })
  again.wireBytes = 80
  again.isRepeated = true
  again.splitByDataset([share], 0, admission)[0]?.ended({ stored: [], failure: undefined })
  expect(sumOf(cells())).toEqual({ received: 4, stored: 4, duplicate: 0, rejected: 0, wire_bytes: 80 })
})

test('the rest of a post that is given up counts as rejected', () => {
  const { account, cells } = open()
  const [stored, left] = [block(2), block(5)]
  account.willRepeat = () => true
  account
    .splitByDataset([{ logId: randomUUID(), rows: 7, blocks: [stored, left] }], 0, admission)[0]
    ?.ended({ stored: [{ block: stored, firstSeq: seqAt(NOW_MS) }], failure: unavailable('full') })
  account.noteRefused(unavailable('the service stops'))
  expect(sumOf(cells())).toEqual({ received: 7, stored: 2, duplicate: 0, rejected: 5, wire_bytes: 0 })
})

test('a refused post counts its events, or one while their number is unknown', () => {
  const { account, cells } = open()
  account.wireBytes = 70
  account.noteRefused(badRequest('not a body'))
  account.events = 5
  account.noteRefused(unavailable('no room'))
  const [cell] = cells()
  expect(cell?.counts).toMatchObject({ received: 6, rejected: 6, stored: 0 })
  expect(Object.fromEntries(cell?.reasons ?? [])).toEqual({ malformed: 1, unavailable: 5 })
})

test('reasons are fixed words, whatever the failure says', () => {
  expect([400, 413, 415, 422, 429, 503, 418].map((status) => reasonOf(new Failure(status, 'secret words of a caller')))).toEqual([
    'malformed',
    'too_large',
    'encoding',
    'identity',
    'limit',
    'unavailable',
    'fault',
  ])
  expect(reasonOf(new TypeError('a bug'))).toBe('fault')
})
