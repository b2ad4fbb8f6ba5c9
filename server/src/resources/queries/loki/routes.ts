import { text as readText } from 'node:stream/consumers'
import { hasPermission } from '../../../http/actor.ts'
import { decodeSegment, jsonReply } from '../../../http/protocol-reads.ts'
import type { RawCall, RawHandler, RequestHead } from '../../../http/raw-handler.ts'
import { badRequest, Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import type { LiveTails } from '../live-tail/live-tail.ts'
import { detectFields, detectFieldValues } from './detected-fields.ts'
import { countLabelValues, listLabels, listLabelValues } from './label-lists.ts'
import { screenLimits, VERSION } from './limits.ts'
import { listPatterns } from './line-patterns.ts'
import { LokiCost } from './loki-query.ts'
import { LokiParameters } from './parameters.ts'
import { evaluationTimesOf, queryInstant, queryRange } from './queries.ts'
import type { LokiRequest } from './request.ts'
import { indexStatistics, indexVolume, indexVolumeRange, listSeries } from './stream-lists.ts'
import { openTail } from './tail.ts'

type Read = {
  readonly name: string
  readonly path: RegExp
  readonly methods: readonly string[]
  readonly permission: 'search_read' | 'any'
  readonly run: (request: LokiRequest) => Promise<unknown>
}

const GET = ['GET', 'HEAD']
const GET_OR_POST = [...GET, 'POST']
const BUILD = { version: VERSION, revision: '', branch: '', buildUser: '', buildDate: '', goVersion: '' }

const read = (name: string, tail: string, run: Read['run'], methods = GET_OR_POST): Read => ({
  name,
  path: new RegExp(`(?:^|/)loki/api/v1/${tail}$`),
  methods,
  permission: 'search_read',
  run,
})

const reads: readonly Read[] = [
  read('queryRange', 'query_range', queryRange),
  read('query', 'query', queryInstant),
  // Senders use the list of labels to check the address, with a key that may only send.
  { ...read('labels', 'labels?', listLabels), permission: 'any' },
  read('labelValues', 'label/([^/]+)/values', listLabelValues),
  read('series', 'series', listSeries),
  read('indexStats', 'index/stats', indexStatistics),
  read('indexVolume', 'index/volume', indexVolume),
  read('indexVolumeRange', 'index/volume_range', (request) => indexVolumeRange(request, evaluationTimesOf(request))),
  read('detectedLabels', 'detected_labels', countLabelValues),
  read('detectedFields', 'detected_fields', detectFields),
  read('detectedFieldValues', 'detected_field/([^/]+)/values', detectFieldValues),
  read('patterns', 'patterns', listPatterns),
  read('screenLimits', 'drilldown-limits', async () => screenLimits, GET),
  { ...read('buildInfo', 'status/buildinfo', async () => BUILD, GET), permission: 'any' },
  // Clients probe for newer endpoints, with the credentials of this protocol.
  {
    ...read(
      'unknown',
      '',
      async () => {
        throw notFound('endpoint of the Loki protocol')
      },
      GET,
    ),
    path: /(?:^|\/)loki\/api\/(?:v1\/(?!tail$)|v2alpha\/).+$/,
    permission: 'any',
  },
]

const TAIL = read(
  'tail',
  'tail',
  async () => {
    throw badRequest('a tail needs a WebSocket')
  },
  ['GET'],
)

type LokiReads = { find(head: RequestHead): RawHandler | undefined }

/** Serves the reads of the Loki protocol. */
export function openLokiReads(world: World, tails: LiveTails): LokiReads {
  const tail: RawHandler = {
    ...handlerOf(world, TAIL),
    upgrade: async (call) => openTail(await requestOf(world, TAIL, call), tails, call.currentActor),
  }
  const handlers = [...reads.map((one) => ({ one, handler: handlerOf(world, one) })), { one: TAIL, handler: tail }]
  return {
    find: ({ method, path }) => handlers.find(({ one }) => one.path.test(path) && one.methods.includes(method))?.handler,
  }
}

function handlerOf(world: World, one: Read): RawHandler {
  return {
    action: `loki.${one.name}`,
    permission: one.permission,
    countsAs: 'reading',
    handle: async (call) => {
      const request = await requestOf(world, one, call)
      const isRead = hasPermission(call.actor, 'search_read')
      if (!isRead && one.name === 'labels') return jsonReply({ status: 'success', data: await emptyForSenders(call) })
      return jsonReply(await one.run(request))
    },
    replyToFailure: (_head, { status, message, headers }) => ({
      status,
      headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
      body: `${message}\n`,
    }),
  }
}

async function requestOf(world: World, { path }: Read, call: RawCall): Promise<LokiRequest> {
  return {
    world,
    actor: call.actor,
    signal: call.signal,
    cost: new LokiCost(),
    startedMs: world.clock.monotonicMs(),
    parameters: await parametersOf(call),
    head: call.head,
    segments: (path.exec(call.head.path) ?? []).slice(1).map(decodeSegment),
  }
}

async function emptyForSenders({ actor }: RawCall): Promise<readonly string[]> {
  if (!hasPermission(actor, 'events_write')) throw forbidden('this needs the permission search_read, which the caller does not hold')
  return []
}

const FORM = 'application/x-www-form-urlencoded'
const FORM_BYTES_MAX = 256 * 1_024

/** Joins the parameters of the address with those of a form in the body. */
async function parametersOf({ head, body }: RawCall): Promise<LokiParameters> {
  const parameters = new URLSearchParams(head.search)
  if (head.method !== 'POST') return new LokiParameters(parameters)
  const type = head.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  const form = await formOf(head, body)
  if (form !== '' && type !== FORM) throw new Failure(415, `the content type must be ${FORM}`)
  for (const [name, value] of new URLSearchParams(form)) parameters.append(name, value)
  return new LokiParameters(parameters)
}

async function formOf({ headers }: RequestHead, body: RawCall['body']): Promise<string> {
  if (headers['content-encoding'] && headers['content-encoding'] !== 'identity')
    throw new Failure(415, 'compressed forms are not supported')
  let bytes = 0
  body.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > FORM_BYTES_MAX) body.destroy(new Failure(413, `a form has at most ${FORM_BYTES_MAX} bytes`))
  })
  return readText(body)
}
