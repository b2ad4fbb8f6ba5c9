import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Receiver } from '../batch.ts'
import { readCases, runCase } from './cases.fixture.ts'
import { cloudflare } from './cloudflare/cloudflare.ts'
import { datadog } from './datadog/datadog.ts'
import { firehose } from './firehose/firehose.ts'
import { gelfHttp } from './gelf/gelf-http.ts'
import { hec } from './hec/hec.ts'
import { heroku } from './heroku/heroku.ts'
import { journald } from './journald/journald.ts'
import { logdna } from './logdna/logdna.ts'
import { loki } from './loki/loki.ts'
import { newrelic } from './newrelic/newrelic.ts'
import { vercel } from './vercel/vercel.ts'
import { zipkin } from './zipkin/zipkin.ts'

const folders: readonly (readonly [folder: string, receiver: Receiver])[] = [
  ['loki', loki],
  ['hec', hec],
  ['datadog', datadog],
  ['newrelic', newrelic],
  ['logdna', logdna],
  ['gelf', gelfHttp],
  ['firehose', firehose],
  ['cloudflare', cloudflare],
  ['vercel', vercel],
  ['heroku', heroku],
  ['journald', journald],
  ['zipkin', zipkin],
]

describe.each(folders)('the cases of %s', (folder, receiver) => {
  const place = new URL(`${folder}/cases/`, import.meta.url)
  const cases = readdirSync(place).flatMap((file) => readCases(readFileSync(new URL(file, place), 'utf8')))
  test.each(cases.map((one) => [one.name, one] as const))('%s', (_, one) => {
    const lines = runCase(receiver, one).flatMap((text) => text.split('\n'))
    expect(lines.filter((line) => line !== '')).toEqual(one.expected)
  })
})
