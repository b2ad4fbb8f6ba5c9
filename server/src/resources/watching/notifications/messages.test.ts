import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Placeholders, renderPayload, samplePlaceholders } from '../integrations/payload.ts'
import { chatFor } from './chat-body.ts'
import { mailFor } from './mail-body.ts'
import { descriptionOf, type NotificationContent, placeholdersOf, titleOf } from './message-text.ts'
import { occasionOf } from './occasion.fixture.ts'
import { resultOfTry } from './retries.ts'

const contentOf = (over: Parameters<typeof occasionOf>[0] = {}, more: Partial<NotificationContent> = {}): NotificationContent => ({
  occasion: occasionOf(over),
  samples: [],
  isTest: false,
  link: 'https://logs.example.org/app/monitors?id=7',
  region: 'eu',
  ...more,
})

const casesIn = (file: string): [title: string, lines: string[]][] =>
  readFileSync(join(import.meta.dirname, 'cases', file), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((text) => {
      const [title = '', ...lines] = text.trim().split('\n')
      return [title, lines]
    })

describe('a message', () => {
  test.each(casesIn('messages.txt'))('%s', (_, [over = '{}', ...said]) => {
    const { value, ...rest } = JSON.parse(over)
    const content = contentOf(value === null ? { ...rest, value: undefined } : value === undefined ? rest : { ...rest, value })
    expect([titleOf(content), descriptionOf(content).split('\n\n').at(-1)]).toEqual(said)
  })

  test('cuts a long name between two characters, never within one', () => {
    for (const padding of ['', 'x']) {
      const title = titleOf(contentOf({ monitor: { name: `${padding}${'\u{1f600}'.repeat(127)}` } }))
      expect(title).toMatch(/\u{1f600}…$/u)
      expect(title.isWellFormed()).toBe(true)
    }
  })

  test('begins with what people wrote about the monitor', () => {
    expect(descriptionOf(contentOf())).toMatch(/^Too many payments fail\.\n\nThe value 12 /)
  })
})

describe('a payload', () => {
  const values: Placeholders = {
    ...samplePlaceholders,
    title: 'ALERT: Say "hello"',
    description: 'C:\\new\nline "quoted" ünïcode',
    current_value: '',
    threshold: '10.5',
    start_time_window: '1795262100000',
    group: 'g1',
    groups: 'g1, g2',
    query: 'count(*) where a = $title',
  }

  test.each(casesIn('payloads.txt'))('%s', (_, [template = '', sent = '']) => {
    const rendered = renderPayload(template, values)
    expect(() => JSON.parse(rendered)).not.toThrow()
    // The cases are written as people read them: quotes of values without the backslashes of JSON.
    expect(JSON.stringify(JSON.parse(rendered)).replaceAll('\\"', '"')).toBe(sent.replaceAll('\\"', '"'))
  })

  test('is valid JSON for any values', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string(), (title, group) => {
        const rendered = renderPayload('{"a":"$title","b":["$group","$title"]}', { ...values, title, group })
        expect(JSON.parse(rendered)).toEqual({ a: title, b: [group, title] })
      }),
    )
  })
})

describe('text from logs and from people', () => {
  const hostile = '<script>alert(1)</script>"\'&<img src=x onerror=y> <!channel> ``` \u202Eevil\u0007\u001b[31m'

  const places: [string, NotificationContent][] = [
    ['samples', contentOf({}, { samples: [hostile] })],
    ['the report', contentOf({}, { report: hostile })],
    ['the name', contentOf({ monitor: { name: hostile } })],
    ['the description', contentOf({ monitor: { description: hostile } })],
    ['the name beside a chart', contentOf({ monitor: { name: hostile } }, { past: { fromMs: 0, toMs: 1, values: [1, null] } })],
    ['the group', contentOf({ group: hostile })],
    ['the query', contentOf({ monitor: { queries: [{ name: 'a', select: ['count(*)'], where: hostile }] } })],
  ]

  test.each(places)('is text in mails and in chats: %s', (_, content) => {
    for (const template of [
      undefined,
      '$title $description $samples $report $group $query',
      '<p>$title $samples $report $description $group $query</p>',
    ]) {
      const { subject, html, text } = mailFor('ada@example.org', content, template)
      expect(html).not.toMatch(/<script|<img (?!src="cid:chart")|<!channel|onerror=y>/)
      expect(html).not.toMatch(/[^\P{C}\n\t]/u)
      expect(subject).not.toMatch(/\p{C}/u)
      expect(text).not.toMatch(/[^\P{C}\n\t]/u)
    }
    const chat = chatFor('#on-call', content)
    expect(chat).not.toMatch(/<!|<script|\u202E/)
    const { attachments } = JSON.parse(chat)
    expect((attachments[0].text.match(/```/g) ?? []).length % 2).toBe(0)
  })

  test('is shown whole where it does no harm', () => {
    const { html, text } = mailFor('ada@example.org', contentOf({}, { samples: ['{"user":"Ada <ada@example.org>","n":1}'] }), undefined)
    expect(html).toContain('{&quot;user&quot;:&quot;Ada &lt;ada@example.org&gt;&quot;,&quot;n&quot;:1}')
    expect(text).toContain('  {"user":"Ada <ada@example.org>","n":1}')
  })
})

test('every placeholder has a value', () => {
  expect(Object.keys(placeholdersOf(contentOf())).sort()).toEqual(Object.keys(samplePlaceholders).sort())
})

describe('the outcome of an attempt', () => {
  const again = { kind: 'again', reason: 'the mail relay could not be reached' } as const
  const MINUTE_MS = 60_000

  test('mails wait for a relay that is down for a day', () => {
    const waits: number[] = []
    let nowMs = 0
    for (let attempt = 1; ; attempt += 1) {
      const { state, next_try_at } = resultOfTry(again, { type: 'EMAIL', attempt, timeMs: 0, nowMs })
      if (state === 'FAILED') break
      waits.push(((next_try_at ?? 0) - nowMs) / MINUTE_MS)
      nowMs = next_try_at ?? 0
    }
    expect(waits.slice(0, 6)).toEqual([1, 5, 15, 60, 60, 60])
    expect(nowMs).toBeGreaterThan(23 * 60 * MINUTE_MS)
    expect(nowMs).toBeLessThanOrEqual(24 * 60 * MINUTE_MS)
  })

  test('a Retry-After of the target is honored', () => {
    const busy = { kind: 'again', reason: 'busy', retryAfterMs: 30_000 } as const
    expect(resultOfTry(busy, { type: 'WEBHOOK', attempt: 1, timeMs: 0, nowMs: 5 }).next_try_at).toBe(30_005)
    expect(resultOfTry(busy, { type: 'WEBHOOK', attempt: 3, timeMs: 0, nowMs: 5 }).next_try_at).toBe(60_005)
  })
})
