import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { RehydratedFile, Rehydration } from '@dendro/api'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { numberedParquet } from '../../server/src/ingest/parquet/parquet.fixture.ts'
import { type OriginStand, openOriginStand } from '../support/origin-stand.ts'
import { killServices, type Service, stop, until } from '../support/service.ts'

const KEY = 'dk_plover-7-kettles-and-a-crate-of-lemons'
let stand: OriginStand
beforeAll(async () => {
  stand = await openOriginStand(KEY)
})
afterEach(killServices)
afterAll(() => stand?.close())

const PER_FILE = 40_000
const FILES = 3
const ALL = FILES * PER_FILE
const EXPECTED = { count: ALL, sum: (ALL * (ALL - 1)) / 2 }
const FILLER = 'a text that makes the batches many '.repeat(8)

const linesOf = (file: number): string =>
  Array.from({ length: PER_FILE }, (_, n) => `{"n":${file * PER_FILE + n},"text":"${FILLER}"}\n`).join('')
const parquetOf = (file: number): Uint8Array<ArrayBuffer> =>
  numberedParquet(
    Array.from({ length: PER_FILE }, (_, n) => file * PER_FILE + n),
    FILLER,
  )
/** What expands much is refused. */
const gzipOf = (file: number): Uint8Array<ArrayBuffer> => new Uint8Array(gzipSync(linesOf(file), { level: 1 }))

const kinds = [
  { name: 'DIRECTORY', contentOf: (file: number) => (file === 1 ? gzipOf(file) : file === 2 ? parquetOf(file) : linesOf(file)) },
  { name: 'S3', contentOf: (file: number) => (file === 1 ? parquetOf(file) : gzipOf(file)) },
] as const

/** Writes the files and gives the origin that has them. */
async function originOf(service: Service, { name, contentOf }: (typeof kinds)[number]): Promise<object> {
  const { organisations } = await stand.ask<{ organisations: { id: string }[] }>(service, 'GET', '/organizations')
  const directory = join(stand.files, organisations[0]?.id ?? '')
  await mkdir(directory, { recursive: true })
  await fetch(`${stand.endpoint}/archive`, { method: 'PUT' })
  for (let file = 0; file < FILES; file += 1) {
    if (name === 'DIRECTORY') await writeFile(join(directory, String(file)), contentOf(file))
    else await fetch(`${stand.endpoint}/archive/${file}`, { method: 'PUT', body: contentOf(file) })
  }
  if (name === 'DIRECTORY') return { kind: 'DIRECTORY', directory }
  return { kind: 'S3', bucket: 'archive', endpoint: stand.endpoint, access_key_id: 'ada', secret_access_key: 'secret' }
}

describe.each(kinds)('a rehydration of the kind $name', (kind) => {
  test('has each event once, however often its process is killed, is cancelled, and is repeated', async () => {
    let service = await stand.start()
    const { id: log_id } = await stand.ask<{ id: string }>(service, 'POST', '/datasets', { collection: 'archive', dataset: kind.name })
    const order = { log_id, origin: await originOf(service, kind) }
    const create = () => stand.ask<Rehydration>(service, 'POST', '/rehydrations', order)
    const get = (id: string) => stand.ask<Rehydration>(service, 'GET', `/rehydrations/${id}`)
    const untilEnded = async (id: string): Promise<Rehydration> => {
      await until(async () => (await get(id)).ended_at !== undefined)
      return get(id)
    }

    // Cancelled after its first batch: what is stored stays.
    const first = await create()
    await until(async () => (await get(first.id)).stored_events > 0)
    await stand.ask(service, 'POST', `/rehydrations/${first.id}/cancel`)
    const cancelled = await untilEnded(first.id)
    expect(['CANCELLED', 'COMPLETE']).toContain(cancelled.status)
    expect((await stand.countIn(service, log_id)).count).toBe(cancelled.stored_events)

    // Killed at another moment each time.
    const second = await create()
    let interrupted = 0
    for (let round = 0; round < 3; round += 1) {
      const before = (await get(second.id)).read_events
      await until(async () => {
        const now = await get(second.id)
        if (now.read_events > before && now.ended_at === undefined) interrupted += 1
        return now.read_events > before || now.ended_at !== undefined
      })
      await new Promise((done) => setTimeout(done, round * 60))
      await stop(service.child, round % 3 === 2 ? 'SIGTERM' : 'SIGKILL')
      service = await stand.start()
    }
    expect(interrupted).toBeGreaterThan(0)
    const ended = await untilEnded(second.id)
    expect(ended).toMatchObject({ status: 'COMPLETE', files: FILES, refused_files: 0, refused_events: 0, read_events: ALL })
    expect(ended.stored_events + ended.earlier_events).toBe(ALL)
    expect(ended.earlier_events).toBe(cancelled.stored_events)
    expect(await stand.countIn(service, log_id)).toEqual(EXPECTED)
    const { files: receipts } = await stand.ask<{ files: RehydratedFile[] }>(service, 'GET', `/rehydrations/${second.id}/files`)
    expect(receipts.map(({ status, read_events }) => [status, read_events])).toEqual(
      Array.from({ length: FILES }, () => ['COMPLETE', PER_FILE]),
    )

    const third = await untilEnded((await create()).id)
    expect(third).toMatchObject({ status: 'COMPLETE', read_events: ALL, stored_events: 0, earlier_events: ALL })
    expect(await stand.countIn(service, log_id)).toEqual(EXPECTED)
  }, 600_000)
})
