import { type Html, html, prose } from './html.ts'

/** A protocol that other senders speak. Its answers are its own, so it is no endpoint of the contract. */
type WireProtocol = { receiver: string; title: string; paths: readonly string[]; body: string; success: string; failure: string }

const REFUSED = 'the status and a line of text'

/** Every receiver over HTTP but our own protocol and OTLP, which are endpoints. */
export const wireProtocols: readonly WireProtocol[] = [
  {
    receiver: 'elasticsearch',
    title: 'Elasticsearch bulk',
    paths: ['/_bulk', '/{index}/_bulk', '/{index}/_doc', '/{index}/_create/{id}'],
    body: 'Pairs of lines: the action and its document. `_doc` and `_create` take one document.',
    success: '200 `{"took":0,"errors":false,"items":[…]}`, one item for each action; 201 for one document',
    failure: '`{"error":{"type":…,"reason":…},"status":…}`; an unreadable document is the 400 of its item',
  },
  {
    receiver: 'loki',
    title: 'Loki push',
    paths: ['/loki/api/v1/push', '/api/prom/push'],
    body: '`application/json` with `streams`, or protobuf compressed with snappy',
    success: '204 without a body',
    failure: REFUSED,
  },
  {
    receiver: 'hec',
    title: 'HTTP event collector',
    paths: ['/services/collector', '/services/collector/event', '/services/collector/raw', '/services/collector/ack'],
    body: 'Objects with `event`, one after another or in an array; `raw` takes lines of text, `ack` the ids of acknowledgements. Each path may end in `/1.0`.',
    success: '200 `{"text":"Success","code":0}`, with `ackId` while acknowledgements are on',
    failure: '`{"text":…,"code":…}`: 401 without a token, 403 for an unknown one, 400 with `invalid-event-number`',
  },
  {
    receiver: 'datadog',
    title: 'Datadog logs',
    paths: ['/api/v2/logs', '/v1/input', '/v1/input/{key}'],
    body: 'An array of objects with `message`, one object, or lines of text',
    success: '202 `{}`, on `/v1/input` 200 `{}`',
    failure: '`{"errors":[…]}`; 403 for a missing or unknown key',
  },
  {
    receiver: 'newrelic',
    title: 'New Relic log API',
    paths: ['/log/v1'],
    body: 'A log with `message`, an array of logs, or an array of blocks with `common` and `logs`',
    success: '202 `{"requestId":…}`',
    failure: '`{"requestId":…,"errors":[…]}`; 403 for a missing or unknown key',
  },
  {
    receiver: 'zipkin',
    title: 'Zipkin',
    paths: ['/api/v2/spans'],
    body: 'A JSON array of spans in the second version of the format',
    success: '202',
    failure: 'A text',
  },
  {
    receiver: 'jaeger',
    title: 'Jaeger',
    paths: ['/api/traces'],
    body: 'A `Batch` in the binary protocol of Thrift (`application/x-thrift`), or a `PostSpansRequest` in protobuf (`application/x-protobuf`)',
    success: '202',
    failure: 'A text',
  },
  {
    receiver: 'logdna',
    title: 'LogDNA',
    paths: ['/logs/ingest', '/logs/agent'],
    body: '`{"lines":[{"line":…}]}`, with the parameter `hostname`, and optionally `ip`, `mac`, `now` and `tags`',
    success: '200 `{"status":"ok","batchID":…}`',
    failure: '`{"error":…,"code":…,"status":"error"}`',
  },
  {
    receiver: 'gelf-http',
    title: 'GELF',
    paths: ['/gelf'],
    body: 'A message with `short_message`, several one after another, or an array',
    success: '202 without a body',
    failure: REFUSED,
  },
  {
    receiver: 'firehose',
    title: 'Firehose delivery',
    paths: ['/firehose'],
    body: '`{"requestId":…,"records":[{"data":"<base64>"}]}`; with its headers on any path',
    success: '200 `{"requestId":…,"timestamp":…}`',
    failure: 'the same with `errorMessage`',
  },
  {
    receiver: 'cloudflare',
    title: 'Cloudflare Logpush',
    paths: ['/cloudflare', '/cloudflare/{dataset}'],
    body: 'Lines of JSON',
    success: '200 `{"accepted":…}`',
    failure: '`{"error":…}`',
  },
  {
    receiver: 'vercel',
    title: 'Vercel drain',
    paths: ['/vercel'],
    body: 'An array or lines of JSON; with a signature on any path',
    success: '200 `{"accepted":…}`',
    failure: '`{"error":…}`; 403 for a wrong signature',
  },
  {
    receiver: 'heroku',
    title: 'Heroku drain',
    paths: ['/heroku'],
    body: '`application/logplex-1`: syslog messages, each after its length; with this type on any path',
    success: '204 without a body',
    failure: REFUSED,
  },
  {
    receiver: 'journald',
    title: 'System journal',
    paths: ['/upload'],
    body: '`application/vnd.fdo.journal`: the export format',
    success: '202 `OK.`',
    failure: REFUSED,
  },
]

export const wireProtocolsSection = (): Html => html`<section id="wire-protocols" class="group">
<h2>Events in other protocols</h2>
<p>These paths take events as existing senders write them, with the permission <code>events_write</code>. A success means that the events are stored durably. 429 and 503 have
<code>Retry-After</code>. The parameters <code>collection</code>, <code>dataset</code> and <code>tags</code>, or the headers <code>x-service-…</code>, choose the dataset. Bodies may be compressed.</p>
${wireProtocols.map(
  ({ title, paths, body, success, failure }) => html`<h3>${title}</h3>
<ul>
<li>Paths: ${paths.map((path) => html`<code>POST ${path}</code> `)}</li>
<li>Body: ${prose(body)}</li>
<li>Success: ${prose(success)}</li>
<li>Failure: ${prose(failure)}</li>
</ul>
`,
)}
</section>`
