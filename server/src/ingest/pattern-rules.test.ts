import type { FailureBody, IngestRule } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

type Found = { result: { '@raw': string; '@pattern': string }[] }

async function newOwner() {
  const owner = await senders.app.newOrganization()
  return {
    owner,
    post: async (raw: string) => {
      const { status, body } = await senders.post(raw, { owner })
      expect([status, body]).toEqual([200, expect.anything()])
    },
    lines: async () => (await senders.eventsIn('default', 'default', owner)).map(({ line }) => line),
    /** The ids of patterns as the service shows them, by the event that has them. */
    ids: async (lines: readonly string[]): Promise<string[]> => {
      const body = { from_expr: '*', where: '', select: ['@raw', '@pattern'], time_range: 'Last 1 day' }
      const { body: found } = await owner.ask<Found>('POST', '/search', { body })
      return lines.map((line) => found.result.find((event) => event['@raw'] === line)?.['@pattern'] ?? '')
    },
    drop: async (where: string): Promise<string> => {
      const body = { name: 'rule', from_expr: '*', where, action: { type: 'DROP' } }
      const reply = await owner.ask<IngestRule & FailureBody>('POST', '/ingest-rules', { body })
      expect([reply.status, reply.body.details]).toEqual([201, undefined])
      return reply.body.id
    },
  }
}

// Searches of the tests show the last day.
const today = new Date().toISOString().slice(0, 19).replace('T', ' ')
const noise = (n: number) => [
  `connection from 10.0.0.${n} closed after ${n} ms`,
  `{"level":"info","msg":"user ${n}00 logged in","id":${n}}`,
  `{"n":${n},"kind":"tick"}`,
  `${today}.00${n} INFO [main] cache refreshed in ${n} ms`,
]

describe('a filter by pattern', () => {
  test('matches arriving lines of that pattern, whatever their form', async () => {
    const { post, lines, ids, drop } = await newOwner()
    const first = noise(1)
    await post(first.join('\n'))
    const found = await ids(first)
    expect(found.every((id) => /^[\da-f]{16}$/.test(id))).toBe(true)
    for (const [at, id] of found.entries()) {
      const rule = await drop(at % 2 === 0 ? `@pattern = '${id}'` : `@pattern IN ('${id}', 'other') AND @raw != 'x'`)
      const before = await lines()
      await post(noise(2 + at).join('\n'))
      const kept = noise(2 + at).filter((_, other) => other > at)
      expect((await lines()).slice(before.length)).toEqual(kept)
      expect(rule).not.toBe('')
    }
  })

  test('stands for all patterns of a family', async () => {
    const { post, lines, ids, drop } = await newOwner()
    const names = ['alpha', 'bravo', 'carol', 'delta', 'echo', 'foxtrot', 'golf', 'hotel', 'india', 'juliet', 'kilo', 'lima']
    const texts = names.map((name) => `failed to open the file ${name}.txt for reading, giving up`)
    await post([...texts, 'another line'].join('\n'))
    const [first = '', ...others] = await ids(texts)
    expect(new Set([first, ...others]).size).toBe(1)
    await drop(`@pattern = '${first}'`)
    const before = await lines()
    await post([...texts, 'another line'].join('\n'))
    expect((await lines()).slice(before.length)).toEqual(['another line'])
  })

  test('may be negated, and previews as it applies', async () => {
    const { owner, post, lines, ids, drop } = await newOwner()
    const [kept = '', gone = ''] = ['disk is full now', 'the queue is empty']
    await post(`${kept}\n${gone}`)
    const [id = ''] = await ids([kept])
    const body = { from_expr: '*', where: `@pattern != '${id}'`, action: { type: 'DROP' } }
    const { body: preview } = await owner.ask<{ events: number; dropped: number }>('POST', '/ingest-rules/preview', { body })
    expect(preview).toMatchObject({ events: 2, dropped: 1 })
    await drop(`@pattern != '${id}'`)
    await post(`${gone}\n${kept}`)
    expect(await lines()).toEqual([kept, gone, kept])
  })
})
