import fc from 'fast-check'
import { expect, test } from 'vitest'
import { growLayout } from '../../lines/layout/catalog.ts'
import type { SlotMap } from '../../lines/layout/slots.ts'
import { RecordDraft, RecordTable } from '../../lines/shredder/record-table.ts'
import { TextMemory } from '../../lines/shredder/text-memory.ts'
import type { DatasetBatch, Pair, ReceivedRecord } from '../batch.ts'
import { linesOfBatch, rowsOfBatch } from './arrivals.ts'
import { Shredders } from './shredding.ts'
import type { Shredded, ShredTarget } from './worker-messages.ts'

const AT = { ms: Date.UTC(2026, 10, 21, 12), ns: 0 }
const COMMON = { at: AT, origin: '10.0.0.1' }
const target = (map: SlotMap | undefined): ShredTarget => ({
  batches: [0],
  orgNumber: 1,
  logId: '00000000-0000-4000-8000-000000000001',
  map,
  attributes: [],
  rules: undefined,
  parser: undefined,
  lineTime: undefined,
  isLast: true,
})

const names = fc.constantFrom('a', 'b', 'level', 'status', 'http.status', 'message', 'time', 'stack', 'a.b', '__proto__', 'é')
const sourceNames = fc.constantFrom('$a', '$host.name', '$ingest.original_time', '$a.b')
const texts = fc.constantFrom('', 'info', 'error', '200', '503', 'a b', 'é日😀', 'a\0b', '\0', 'x'.repeat(60), '2026-11-20T10:00:00Z')
const lines = fc.constantFrom(
  '',
  'plain words',
  'für 17 words',
  '2026-11-20T10:00:00Z INFO took=5 user=7',
  '2030-11-20T10:00:00Z a=1 b=2',
  'a=1 level=warn c="é x"',
  'took a=1 status=200 b=x',
  'took a=2 status=503 b=y',
  'took a=2 status=200 c=y',
  'Nov 20 10:00:00 node-3 sshd[17]: opened',
  '<34>Nov 20 10:00:00 host su: failed',
  '<165>1 2026-11-20T10:00:00Z host app 17 - [x@1 a="1"] text',
  '<166>1 2026-11-20T10:00:01Z host-2 app 9 - [x@1 a="22"] other text',
  '<165>1 2026-11-20T10:00:00Z host app 17 - [x@1 b="1" level="debug"] text',
  '<165>1 2026-11-20T10:00:00Z host app 17 - [y@1 a="1"]  text',
  '<165>1 2026-11-20T10:00:00Z host app 17 - [y@1 a="\\"1\\""] text {"a":1,"msg":"own"}',
  '2026-11-20T10:00:00Z INFO {"msg":"took 17 ms","b":"","level":"warn"}',
  'took {"msg":"18 \\"ms\\"","b":"x","time":"2026-11-20T10:00:00Z"}',
  'ts=2026-11-20T10:00:00Z level=info msg="took \\"17\\" ms" b=x',
  'time=never a=1 b="\\\\"',
  'time=2026-11-21T11:59:59.000000017Z message="" a=1',
  'java.io.IOException: broken',
  '{"a":1,"message":"took 17 ms"}',
  '{"a":1,"message":"took 18 ms"}',
  ' {"level":"warn","b":{"c":[1,2]},"time":"2026-11-20T10:00:00Z"}',
  '{"log":"a=1 b=2\\n"}',
  '{"message":"{\\"x\\":1}"}',
  '{broken',
)
const rawLines = fc.oneof(
  { weight: 8, arbitrary: lines.map((line) => Buffer.from(line)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)) },
)
const times = fc.constantFrom(undefined, undefined, { ms: AT.ms - 1_000, ns: 17 }, { ms: 17, ns: 0 }, { ms: AT.ms + 10 ** 10, ns: 0 })
const pairs = (name: fc.Arbitrary<string>): fc.Arbitrary<Pair[]> => fc.array(fc.tuple(name, texts), { maxLength: 4 })
const records: fc.Arbitrary<ReceivedRecord> = fc.record(
  {
    raw: rawLines,
    time: times,
    timeText: fc.constantFrom('17', 'é'),
    level: fc.constantFrom(undefined, undefined, 'info', 'WARN', 'odd', '', 'a\0'),
    keys: pairs(names),
    attributes: pairs(sourceNames),
  },
  { requiredKeys: ['raw', 'time', 'level', 'keys', 'attributes'] },
)
const shareds = fc.record({ pairs: pairs(sourceNames), zone: fc.constantFrom(undefined, undefined, '+02:00') })

/** Puts records into a table: some of their texts are parts of the body, as receivers give them, and others are not. */
function tableOf(all: readonly ReceivedRecord[], shared: { pairs: readonly Pair[]; zone: string | undefined }): RecordTable {
  const parts: Buffer[] = []
  let bytes = 0
  const put = (text: string | Uint8Array): [start: number, end: number] => {
    const part = Buffer.from(text as string)
    parts.push(part, Buffer.from('|'))
    bytes += part.length + 1
    return [bytes - part.length - 1, bytes - 1]
  }
  const placed = all.map((record) => ({
    record,
    raw: put(record.raw),
    keys: record.keys.map(([name, text]) => ({ name, text, at: put(text) })),
    attributes: record.attributes.map(([name, text]) => ({ name, text, at: put(text) })),
  }))
  const memory = new TextMemory(Buffer.concat(parts), true)
  const draft = new RecordDraft(memory)
  const table = new RecordTable(memory)
  for (const [number, { record, raw, keys, attributes }] of placed.entries()) {
    draft.clear()
    ;[draft.rawStart, draft.rawEnd] = raw
    draft.setTime(record.time)
    if (record.timeText !== undefined) draft.setTimeText(record.timeText)
    draft.setLevel(record.level)
    for (const [index, { name, text, at }] of keys.entries()) {
      if (index % 2 === number % 2) draft.keys.addText(name, text)
      else draft.keys.add(name, ...at)
    }
    for (const { name, at } of attributes) draft.attributes.add(name, ...at)
    if (number % 3 === 0) draft.copy(record)
    table.add(draft, shared)
  }
  return table
}

/** The blocks of a batch, split with a shredder of its own. */
function blocksOf(batch: DatasetBatch, map: SlotMap | undefined, hasRows: boolean): Shredded {
  const source = {
    lines: () => linesOfBatch(batch, COMMON, []),
    ...(hasRows && { rows: () => rowsOfBatch(batch, COMMON, []) }),
  }
  return new Shredders(() => 0.5).shred([source], target(map))
}

test('rows of a table equal the lines of the same records', () => {
  fc.assert(
    fc.property(fc.array(records, { minLength: 1, maxLength: 12 }), shareds, pairs(sourceNames), (all, shared, attributes) => {
      const batch: DatasetBatch = {
        collection: undefined,
        dataset: undefined,
        attributes,
        events: { kind: 'tables', tables: [tableOf(all, shared)] },
      }
      const objects: DatasetBatch = {
        ...batch,
        events: {
          kind: 'records',
          records: all.map((record) => ({
            ...record,
            attributes: [...shared.pairs, ...record.attributes],
            ...(shared.zone !== undefined && { zone: shared.zone }),
          })),
        },
      }
      const found = blocksOf(objects, undefined, false)
      expect(blocksOf(batch, undefined, true)).toEqual(found)
      if (found.kind !== 'keys') throw new Error('a new dataset has slots')
      const { map } = growLayout(undefined, found, new Map())
      expect(blocksOf(batch, map, true)).toEqual(blocksOf(objects, map, false))
    }),
    { numRuns: 1_000 },
  )
})
