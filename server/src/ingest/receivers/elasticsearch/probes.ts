import type { IngestRequestHead, ReceiverReply, ReceiverRoute, ReplyContext } from '../../batch.ts'

/** A request that senders make before they send events. The replies are just enough for them to continue. */
type Probe = { methods: readonly string[]; tail: RegExp; status?: number; body: unknown }

const GET = ['GET', 'HEAD']
const WRITE = ['PUT', 'POST']
const license = { uid: '00000000-0000-0000-0000-000000000000', type: 'basic', status: 'active', mode: 'basic' }
const notHere = { type: 'resource_not_found_exception', reason: 'this endpoint only accepts events; search with POST /search' }
/** A path of one name, at the root or below the prefixes of this protocol. */
const INDEX = /^(?:.*\/(?:elastic|elasticsearch))?\/{1,3}[^/_][^/]*\/{0,3}$/

/** Such a path for a new index. At the root the name must contain a digit or date math, so that a mistyped API path stays a 404. */
const NEW_INDEX = /^(?:.*\/(?:elastic|elasticsearch)\/{1,3}|\/{1,3}(?=[^/]*(?:\d|%3c|<)))[^/_][^/]*\/{0,3}$/i

/** Tried in order. */
const probes: readonly Probe[] = [
  { methods: ['GET', 'POST'], tail: /\/_(?:search|count|msearch|mget)\/{0,3}$/, status: 404, body: { error: notHere, status: 404 } },
  { methods: GET, tail: /\/_(?:doc|source)\/{1,3}[^/]+\/{0,3}$/, status: 404, body: { error: notHere, status: 404 } },
  { methods: GET, tail: /\/(?:_license|_xpack\/{1,3}license)\/{0,3}$/, body: { license } },
  { methods: GET, tail: /\/_xpack\/{0,3}$/, body: { build: {}, license: { type: 'basic', status: 'active' }, features: {} } },
  { methods: GET, tail: /\/_cluster\/{1,3}health(?:\/[^/]*)?\/{0,3}$/, body: { status: 'green', number_of_nodes: 1 } },
  {
    methods: GET,
    tail: /\/_(?:nodes|cat|ilm|index_template|template|component_template|ingest|data_stream|alias|aliases|logstash)(?:\/.*)?$/,
    body: {},
  },
  {
    methods: WRITE,
    tail: /\/_(?:ilm|index_template|template|component_template|ingest|data_stream|alias|aliases)(?:\/.*)?$/,
    body: { acknowledged: true },
  },
  { methods: WRITE, tail: /\/{1,3}[^/_][^/]*\/{1,3}_(?:mapping|settings)\/{0,3}$/, body: { acknowledged: true } },
  // Clients request this after their last bulk post, also with GET.
  { methods: ['GET', ...WRITE], tail: /\/_(?:refresh|flush)\/{0,3}$/, body: { _shards: { total: 1, successful: 1, failed: 0 } } },
  { methods: ['HEAD'], tail: INDEX, body: {} },
  { methods: ['PUT'], tail: NEW_INDEX, body: { acknowledged: true } },
]

const ROOT = /(?:^|\/(?:elastic|elasticsearch))\/{0,3}$/
const VERSION = '8.19.0'
/** Shippers of the same vendor refuse a server older than themselves, so the reply repeats their own version. */
const SHIPPER = /^Elastic-[A-Za-z-]+\/(\d{1,4}\.\d{1,4}\.\d{1,4})/

export const probeRoutes: readonly ReceiverRoute[] = [
  { methods: GET, tail: ROOT, probe: (request, context) => protocolReply(request, 200, banner(versionFor(request, context))) },
  ...probes.map(({ methods, tail, status, body }) => {
    const probe = (request: IngestRequestHead) => protocolReply(request, status ?? 200, body)
    return { methods, tail, probe }
  }),
]

const versionFor = ({ headers }: IngestRequestHead, context: ReplyContext | undefined): string =>
  context?.protocolVersion ?? SHIPPER.exec(headers['user-agent'] ?? '')?.[1] ?? VERSION

function banner(version: string): unknown {
  return {
    name: 'dendro',
    cluster_name: 'dendro',
    cluster_uuid: 'dendro0000000000000000',
    version: {
      number: version,
      build_flavor: 'default',
      build_type: 'docker',
      build_hash: '0',
      build_date: '2025-01-01T00:00:00Z',
      build_snapshot: false,
      lucene_version: '9.12.0',
      minimum_wire_compatibility_version: '7.17.0',
      minimum_index_compatibility_version: '7.0.0',
    },
    tagline: 'You Know, for Search',
  }
}

const VENDOR = /^application\/vnd\.elasticsearch\+(?:x-nd)?json\s*;\s*compatible-with=(\d{1,3})\b/i

/** Adds the product header that clients check on every response, and replies in the media type of the request. */
export function protocolReply(
  request: IngestRequestHead,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): ReceiverReply {
  const version = (VENDOR.exec(request.headers.accept ?? '') ?? VENDOR.exec(request.contentType))?.[1]
  const contentType = version === undefined ? 'application/json' : `application/vnd.elasticsearch+json;compatible-with=${version}`
  return {
    status,
    headers: { ...headers, 'content-type': contentType, 'x-elastic-product': 'Elasticsearch' },
    // Bytes, since the web server would normalize the media type of a text.
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  }
}
