import { jsonReply, type ProtocolRead, protocolReads, type ReadCall } from '../../../http/protocol-reads.ts'
import type { FindRawHandler, LongRawReply } from '../../../http/raw-handler.ts'
import type { World } from '../../../world.ts'
import { instantMetrics, rangeMetrics } from './metrics.ts'
import { searchTraces, traceById } from './searches.ts'
import { listScopedTags, listTags, listTypedValues, listValues } from './tags.ts'

/** The version whose API the replies follow. Clients choose their requests by it. */
const VERSION = '2.6.0'
const BUILD = { version: VERSION, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' }
const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

type Run = (world: World, call: ReadCall) => Promise<LongRawReply>

/** Serves the HTTP API of Tempo. */
export function openTempoReads(world: World): FindRawHandler {
  const read = (name: string, path: string, run: Run): ProtocolRead => ({ name, path, run: (call) => run(world, call) })
  return protocolReads({
    name: 'tempo',
    prefix: '/tempo/',
    reads: [
      { name: 'echo', path: 'api/echo', isProbe: true, run: async () => ({ status: 200, headers: TEXT, body: 'echo' }) },
      { name: 'buildInfo', path: 'api/status/buildinfo', isProbe: true, run: async () => jsonReply(BUILD) },
      read('trace', 'api/traces/([^/]+)', (of, call) => traceById(of, call, 1)),
      read('traceReply', 'api/v2/traces/([^/]+)', (of, call) => traceById(of, call, 2)),
      read('search', 'api/search', searchTraces),
      read('tags', 'api/search/tags', listTags),
      read('scopedTags', 'api/v2/search/tags', listScopedTags),
      read('tagValues', 'api/search/tag/(.+)/values', listValues),
      read('metrics', 'api/metrics/query', instantMetrics),
      read('metricsOverTime', 'api/metrics/query_range', rangeMetrics),
      read('typedValues', 'api/v2/search/tag/(.+)/values', listTypedValues),
    ],
    failureBody: ({ message }) => ({ headers: TEXT, body: `${message}\n` }),
  })
}
