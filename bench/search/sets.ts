import { closeSync, openSync, readSync } from 'node:fs'
import type { DataFile } from '../ingest/data.ts'
import { type BenchmarkQuery, type Place, queriesFor } from './queries.ts'

/** The kinds of data that can be searched. */
export const searchedKinds = ['json', 'kubernetes', 'text', 'real', 'nested'] as const
export type SearchedKind = (typeof searchedKinds)[number]
export const isSearchedKind = (kind: string): kind is SearchedKind => (searchedKinds as readonly string[]).includes(kind)

/** The approximate size of a line. */
export const bytesPerEvent: Record<SearchedKind, number> = { json: 277, kubernetes: 1_100, text: 131, real: 327, nested: 10_900 }

const NEWEST = { select: ['*', '@raw'], limit: 100 }
const COUNT = { select: ['count(*)'], num_of_slices: 1 }
const ABSENT_ID = `${'f'.repeat(16)}${'0'.repeat(16)}`
const FIRST_BYTES = 16_384

const newest: BenchmarkQuery = { name: 'newest 100', body: NEWEST, logsQl: '* | sort by (_time) desc | limit 100' }
const absentId: BenchmarkQuery = {
  name: 'id in any field, no match',
  body: { ...NEWEST, where: `'${ABSENT_ID}'` },
  logsQl: `"${ABSENT_ID}" | limit 100`,
}

/** The queries of a kind of data, for a file that holds its events. */
export function queriesOfKind(data: DataFile, place: Place): readonly BenchmarkQuery[] {
  if (data.kind === 'kubernetes') return podQueries(data)
  if (data.kind === 'real') return realQueries
  if (data.kind === 'nested') return nestedQueries
  return data.kind === 'text' ? textQueries : queriesFor(place)
}

type Pod = { trace_id: string; kubernetes: { namespace: string; container: string; labels: Record<string, string> } }

/** The first event tells which names and ids occur: they depend on the random numbers of the generator. */
function podQueries({ file }: DataFile): readonly BenchmarkQuery[] {
  const { trace_id: traceId, kubernetes } = JSON.parse(firstLine(file)) as Pod
  const { namespace, container, labels } = kubernetes
  const label = `kubernetes.labels.${Object.keys(labels)[0] ?? ''}`
  return [
    newest,
    {
      name: 'newest 100, two nested values',
      body: { ...NEWEST, where: `kubernetes.namespace = '${namespace}' AND kubernetes.container = '${container}'` },
      logsQl: `"kubernetes.namespace":=${namespace} "kubernetes.container":=${container} | sort by (_time) desc | limit 100`,
    },
    {
      name: 'count by namespace',
      body: { ...COUNT, groups: ['kubernetes.namespace'] },
      logsQl: '* | stats by ("kubernetes.namespace") count() as n',
    },
    { name: 'label, count', body: { ...COUNT, where: `"${label}" IS NOT NULL` }, logsQl: `"${label}":* | stats count() as n` },
    {
      name: 'percentile by container',
      body: { select: ['percentile(latency_ms, 95)'], groups: ['kubernetes.container'], num_of_slices: 1 },
      logsQl: '* | stats by ("kubernetes.container") quantile(0.5, latency_ms) as p50, quantile(0.95, latency_ms) as p95',
    },
    {
      name: 'free text, count',
      body: { ...COUNT, where: "'handled request 99'" },
      logsQl: '~"(?i)handled request 99" | stats count() as n',
    },
    {
      name: 'substring of a value, count',
      body: { ...COUNT, where: "message ILIKE '%request 4711%'" },
      logsQl: '_msg:~"(?i)request 4711" | stats count() as n',
    },
    { name: 'trace id', body: { ...NEWEST, where: `trace_id = '${traceId}'` }, logsQl: `trace_id:=${traceId} | limit 100` },
    { name: 'id in any field, one match', body: { ...NEWEST, where: `'${traceId}'` }, logsQl: `"${traceId}" | limit 100` },
    absentId,
  ]
}

/** VictoriaLogs keeps text lines as they are, so only queries on their text have a counterpart. */
const textQueries: readonly BenchmarkQuery[] = [
  newest,
  {
    name: 'newest 100, free text',
    body: { ...NEWEST, where: "'connection refused'" },
    logsQl: '~"(?i)connection refused" | sort by (_time) desc | limit 100',
  },
  { name: 'free text, count', body: { ...COUNT, where: "'failed password'" }, logsQl: '~"(?i)failed password" | stats count() as n' },
  {
    name: 'free text without a match',
    body: { ...NEWEST, where: "'no such words'" },
    logsQl: '~"(?i)no such words" | sort by (_time) desc | limit 100',
  },
  {
    name: 'regular expression, count',
    body: { ...COUNT, where: "@raw ~ 'took [3-5][0-9]{2} ms'" },
    logsQl: '_msg:~"took [3-5][0-9]{2} ms" | stats count() as n',
  },
  absentId,
  { name: 'count by status', body: { ...COUNT, groups: ['@status'] }, logsQl: '' },
]

/** A word anywhere in the line; VictoriaLogs searches the field of the message, and all fields where events have no such field. */
const word = (text: string): BenchmarkQuery => ({
  name: `word "${text}", count`,
  body: { ...COUNT, where: `'${text}'` },
  logsQl: `~"(?i)${text}" | stats count() as n`,
})

/** Lines of several hundred programs, wrapped as a shipper of containers sends them. */
const realQueries: readonly BenchmarkQuery[] = [
  newest,
  {
    name: 'newest 100, two values',
    body: { ...NEWEST, where: "stream = 'stderr' AND host = 'node-3'" },
    logsQl: 'stream:=stderr host:=node-3 | sort by (_time) desc | limit 100',
  },
  { name: 'newest 100, word', body: { ...NEWEST, where: "'error'" }, logsQl: '~"(?i)error" | sort by (_time) desc | limit 100' },
  word('error'),
  word('invalid user'),
  {
    name: 'word by slice',
    body: { select: ['count(*)'], where: "'error'", num_of_slices: 60 },
    logsQl: '~"(?i)error" | stats by (_time:1m) count() as n',
  },
  {
    name: 'substring of a value, count',
    body: { ...COUNT, where: "log ILIKE '%uthentication fail%'" },
    logsQl: '_msg:~"(?i)uthentication fail" | stats count() as n',
  },
  {
    name: 'substring without a match',
    body: { ...NEWEST, where: "log ILIKE '%no such words%'" },
    logsQl: '_msg:~"(?i)no such words" | sort by (_time) desc | limit 100',
  },
  {
    name: 'regular expression, count',
    body: { ...COUNT, where: "log ~ 'port [0-9]{4,5}'" },
    logsQl: '_msg:~"port [0-9]{4,5}" | stats count() as n',
  },
  { name: 'count by app', body: { ...COUNT, groups: ['app'] }, logsQl: '* | stats by (app) count() as n' },
  { name: 'distinct hosts', body: { select: ['unique(host)'], num_of_slices: 1 }, logsQl: '* | stats count_uniq(host) as n' },
  { name: 'missing key, count', body: { ...COUNT, where: 'pod IS NULL' }, logsQl: 'pod:"" | stats count() as n' },
  { name: 'prefix, count', body: { ...COUNT, where: "log LIKE 'Dec %'" }, logsQl: '_msg:~"^Dec " | stats count() as n' },
  absentId,
]

/** Payloads of webhooks: some fifty kinds with hundreds of nested keys each. */
const nestedQueries: readonly BenchmarkQuery[] = [
  newest,
  {
    name: 'newest 100, two nested values',
    body: { ...NEWEST, where: "action = 'created' AND sender.type = 'User'" },
    logsQl: 'action:=created "sender.type":=User | sort by (_time) desc | limit 100',
  },
  word('error'),
  word('security'),
  {
    name: 'substring of a value, count',
    body: { ...COUNT, where: "repository.full_name ILIKE '%/hello%'" },
    logsQl: '"repository.full_name":~"(?i)/hello" | stats count() as n',
  },
  {
    name: 'regular expression, count',
    body: { ...COUNT, where: "@raw ~ 'refs/heads/[a-z-]+'" },
    logsQl: '~"refs/heads/[a-z-]+" | stats count() as n',
  },
  { name: 'count by action', body: { ...COUNT, groups: ['action'] }, logsQl: '* | stats by (action) count() as n' },
  {
    name: 'top 10 senders',
    body: { ...COUNT, groups: ['sender.login'], limit: 10 },
    logsQl: '* | stats by ("sender.login") count() as n | sort by (n) desc | limit 10',
  },
  {
    name: 'percentile of a number',
    body: { select: ['percentile(repository.size, 95)'], num_of_slices: 1 },
    logsQl: '* | stats quantile(0.95, "repository.size") as p95',
  },
  absentId,
]

function firstLine(file: string): string {
  const bytes = Buffer.alloc(FIRST_BYTES)
  const handle = openSync(file, 'r')
  const length = readSync(handle, bytes)
  closeSync(handle)
  return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? ''
}
