import { closeSync, openSync, readSync } from 'node:fs'
import type { DataFile } from '../ingest/data.ts'
import { type BenchmarkQuery, type Place, queriesFor } from './queries.ts'

/** The kinds of data that can be searched. */
export const searchedKinds = ['json', 'kubernetes', 'text'] as const
export type SearchedKind = (typeof searchedKinds)[number]
export const isSearchedKind = (kind: string): kind is SearchedKind => (searchedKinds as readonly string[]).includes(kind)

/** The approximate size of a line. */
export const bytesPerEvent: Record<SearchedKind, number> = { json: 277, kubernetes: 1_100, text: 131 }

const NEWEST = { select: ['*', '@raw'], limit: 100 }
const COUNT = { select: ['count(*)'], num_of_slices: 1 }
const ABSENT_ID = `${'f'.repeat(16)}${'0'.repeat(16)}`
const FIRST_BYTES = 16_384

/** The queries of a kind of data, for a file that holds its events. */
export function queriesOfKind(data: DataFile, place: Place): readonly BenchmarkQuery[] {
  if (data.kind === 'kubernetes') return podQueries(data)
  return data.kind === 'text' ? textQueries : queriesFor(place)
}

type Pod = { trace_id: string; kubernetes: { namespace: string; container: string; labels: Record<string, string> } }

/** The first event tells which names and ids occur: they depend on the random numbers of the generator. */
function podQueries({ file }: DataFile): readonly BenchmarkQuery[] {
  const { trace_id: traceId, kubernetes } = JSON.parse(firstLine(file)) as Pod
  const { namespace, container, labels } = kubernetes
  const label = `kubernetes.labels.${Object.keys(labels)[0] ?? ''}`
  return [
    { name: 'newest 100', body: NEWEST, logsQl: '* | sort by (_time) desc | limit 100' },
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
    { name: 'id in any field, no match', body: { ...NEWEST, where: `'${ABSENT_ID}'` }, logsQl: `"${ABSENT_ID}" | limit 100` },
  ]
}

/** VictoriaLogs keeps text lines as they are, so only queries on their text have a counterpart. */
const textQueries: readonly BenchmarkQuery[] = [
  { name: 'newest 100', body: NEWEST, logsQl: '* | sort by (_time) desc | limit 100' },
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
  { name: 'id in any field, no match', body: { ...NEWEST, where: `'${ABSENT_ID}'` }, logsQl: `"${ABSENT_ID}" | limit 100` },
  { name: 'count by status', body: { ...COUNT, groups: ['@status'] }, logsQl: '' },
]

function firstLine(file: string): string {
  const bytes = Buffer.alloc(FIRST_BYTES)
  const handle = openSync(file, 'r')
  const length = readSync(handle, bytes)
  closeSync(handle)
  return bytes.toString('utf8', 0, length).split('\n', 1)[0] ?? ''
}
