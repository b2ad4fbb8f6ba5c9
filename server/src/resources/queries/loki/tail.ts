import type { WebSocket } from 'ws'
import { type Actor, hasPermission } from '../../../http/actor.ts'
import type { RawCall, ServeWebSocket } from '../../../http/raw-handler.ts'
import { badField, Failure, forbidden } from '../../../kernel/errors.ts'
import { rawText } from '../../data/event-queries/event-queries.ts'
import type { FollowedEvents, LiveTails } from '../live-tail/live-tail.ts'
import { streamsOf } from './answers.ts'
import { datasetSelectionFor, TailKeys } from './chosen-datasets.ts'
import { eventLabels } from './event-labels.ts'
import type { LabelKeys } from './label-names.ts'
import { entryOf, type LogEntry, readEntries } from './log-entries.ts'
import { parseLogqlLogs } from './logql/parse.ts'
import type { LogqlLogs } from './logql/tree.ts'
import { selectorTest } from './matchers.ts'
import { compilePipeline, type LinePipeline } from './pipeline.ts'
import { type LokiRequest, recordRead } from './request.ts'

const LIMIT = 100
const LIMIT_MAX = 5_000
const HOUR_MS = 3_600_000
const NS_PER_MS = 1_000_000n
/** A client that does not read is disconnected when this much waits for it. */
const BUFFERED_BYTES_MAX = 16 * 2 ** 20
/** Proxies close connections without traffic. */
const PING_MS = 15_000
const [NORMAL, POLICY_VIOLATION, INTERNAL_ERROR, TRY_AGAIN_LATER] = [1_000, 1_008, 1_011, 1_013]
const CLOSE_REASON_BYTES_MAX = 120

/** Reads the newest lines of a query and returns how to send them, and all that follow, over a WebSocket. */
export async function openTail(request: LokiRequest, tails: LiveTails, currentActor: RawCall['currentActor']): Promise<ServeWebSocket> {
  const { parameters, world, actor } = request
  const logs = parseLogqlLogs(parameters.required('query'))
  if (/[^0]/.test(parameters.text('delay_for') ?? '')) throw badField('delay_for', 'is not supported')
  const limit = parameters.whole('limit', { least: 1, most: LIMIT_MAX, otherwise: LIMIT })
  const nowNs = BigInt(world.clock.nowMs()) * NS_PER_MS
  const startNs = parameters.timeNs('start') ?? nowNs - BigInt(HOUR_MS) * NS_PER_MS
  const ending = new AbortController()
  const client = { signal: ending.signal, currentActor: () => stillPermitted(currentActor) }
  // The tail starts before the past is read, so that no event lies between them.
  const following = await tails.follow(actor, await datasetSelectionFor(world, actor, logs.matchers), client)
  try {
    const range = { startNs, endNs: nowNs > startNs ? nowNs : startNs, limit, newestFirst: true }
    const past = (await readEntries(request, logs, range)).reverse()
    recordRead(request)
    return (socket) => void serveTail(request, socket, { logs, following, past, ending })
  } catch (thrown) {
    ending.abort()
    await following.return(undefined)
    throw thrown
  }
}

async function stillPermitted(currentActor: RawCall['currentActor']): Promise<Actor> {
  const actor = await currentActor()
  if (hasPermission(actor, 'search_read')) return actor
  throw forbidden('this needs the permission search_read, which the caller no longer holds')
}

type OpenTail = {
  readonly logs: LogqlLogs
  readonly following: AsyncGenerator<FollowedEvents>
  readonly past: readonly LogEntry[]
  readonly ending: AbortController
}

async function serveTail({ world, actor }: LokiRequest, socket: WebSocket, { logs, following, past, ending }: OpenTail): Promise<void> {
  const pings = setInterval(() => socket.ping(), PING_MS)
  socket.once('close', () => ending.abort())
  socket.on('error', () => socket.terminate())
  try {
    await send(socket, past, { missed: 0, oneOf: 1 })
    const sent = new Set(past.map(({ seq }) => seq))
    const tailKeys = new TailKeys(world, actor, logs.matchers)
    const select = { isSelected: selectorTest(logs.matchers), pipeline: compilePipeline(logs.stages) }
    for await (const followed of following) {
      const keys = await tailKeys.of(new Set(followed.events.map(({ logId }) => logId)))
      const entries = entriesOf(followed, { ...select, keys }).filter(({ seq }) => !sent.has(seq))
      await send(socket, entries, followed)
      if (socket.bufferedAmount > BUFFERED_BYTES_MAX) throw new Failure(429, 'the client reads too slowly')
    }
    socket.close(NORMAL)
  } catch (thrown) {
    const failure = thrown instanceof Failure ? thrown : undefined
    if (!failure) world.log.error({ err: thrown }, 'a tail of the loki protocol failed')
    socket.close(closeCodeOf(failure), (failure?.message ?? 'internal error').slice(0, CLOSE_REASON_BYTES_MAX))
  } finally {
    clearInterval(pings)
    ending.abort()
  }
}

function closeCodeOf(failure: Failure | undefined): number {
  if (!failure) return INTERNAL_ERROR
  return failure.status === 401 || failure.status === 403 ? POLICY_VIOLATION : TRY_AGAIN_LATER
}

type Select = { readonly isSelected: ReturnType<typeof selectorTest>; readonly pipeline: LinePipeline; readonly keys: LabelKeys }

function entriesOf({ events, datasetsById }: FollowedEvents, { isSelected, pipeline, keys }: Select): LogEntry[] {
  return events.flatMap((event) => {
    const { collection = '', dataset = '' } = datasetsById.get(event.logId) ?? {}
    const labels = eventLabels(event, { collection, dataset }, keys)
    return isSelected(labels.stream) ? (entryOf({ event, line: rawText(event.raw), labels }, pipeline) ?? []) : []
  })
}

/** Dropped events are reported without a time and labels of their own: their number, and that each event stands for `one_of`. */
async function send(
  socket: WebSocket,
  entries: readonly LogEntry[],
  { missed, oneOf }: Pick<FollowedEvents, 'missed' | 'oneOf'>,
): Promise<void> {
  const isComplete = missed === 0 && oneOf === 1
  if (entries.length === 0 && isComplete) return
  const labels = { missed: String(missed), one_of: String(oneOf) }
  const dropped = isComplete ? {} : { dropped_entries: [{ labels, timestamp: String(entries[0]?.timeNs ?? 0n) }] }
  socket.send(JSON.stringify({ streams: await streamsOf(entries, 'joined'), ...dropped }))
}
