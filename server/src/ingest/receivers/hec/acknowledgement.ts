import { badRequest, Failure } from '../../../kernel/errors.ts'
import { Recent } from '../../../kernel/recent.ts'
import type { Acknowledgements, IngestRequestHead, ParsedBody, ReceiverReply, ReplyContext } from '../../batch.ts'
import { hecReply } from './answer.ts'

/** The ids that a sender asks for. */
export type AckNotes = { ids: number[] }

/** Bounds the memory for channels; of more, the one that was used least recently is forgotten. */
const CHANNELS_MAX = 10_000
const IDS_MAX = 100_000
const BODY_BYTES_MAX = 2 ** 20
const CHANNEL = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** Counts the ids of each sender and channel. An event is durable before its id is issued, so every issued id is acknowledged. */
export function openAcknowledgements(): Acknowledgements {
  const next = new Recent<string, number>(CHANNELS_MAX)
  const keyOf = (sender: string, channel: string): string => `${sender}/${channel.toLowerCase()}`
  return {
    issue: (sender, channel) => {
      const key = keyOf(sender, channel)
      const id = next.get(key) ?? 0
      next.set(key, id + 1)
      return id
    },
    isIssued: (sender, channel, id) => Number.isInteger(id) && id >= 0 && id < (next.get(keyOf(sender, channel)) ?? 0),
  }
}

/** The channel of a request, '' for none. */
export const channelOf = ({ headers, query }: Pick<IngestRequestHead, 'headers' | 'query'>): string =>
  headers['x-splunk-request-channel'] || query.channel || ''

type Needs = { mustHave: boolean; isAck: boolean }

/** Refuses a request whose channel is missing or malformed, and questions for acknowledgements while they are off. */
export function checkChannel(request: IngestRequestHead, context: ReplyContext, { mustHave, isAck }: Needs): ReceiverReply | undefined {
  if (!context.acknowledgements) return isAck ? hecReply(400, { text: 'ACK is disabled', code: 14 }) : undefined
  const channel = channelOf(request)
  if (channel === '') return mustHave ? hecReply(400, { text: 'Data channel is missing', code: 10 }) : undefined
  return CHANNEL.test(channel) ? undefined : hecReply(400, { text: 'Invalid data channel', code: 11 })
}

export function readAcks(body: Uint8Array): ParsedBody {
  const ids = idsIn(body)
  const notes: AckNotes = { ids }
  return { batches: [], rejected: [], total: 0, notes }
}

function idsIn(body: Uint8Array): number[] {
  if (body.length > BODY_BYTES_MAX) throw new Failure(413, `the body is larger than ${BODY_BYTES_MAX} bytes`)
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')
  let written: unknown
  try {
    written = JSON.parse(text)
  } catch (cause) {
    throw badRequest('the body is not valid JSON', { cause })
  }
  const acks = typeof written === 'object' && written !== null && 'acks' in written ? written.acks : undefined
  if (!Array.isArray(acks) || acks.length > IDS_MAX || !acks.every((id) => Number.isSafeInteger(id))) {
    throw badRequest(`acks must be a list of at most ${IDS_MAX} whole numbers`)
  }
  return acks as number[]
}

export function ackReply(request: IngestRequestHead, { ids }: AckNotes, context: ReplyContext | undefined): ReceiverReply {
  const channel = channelOf(request)
  const acks = Object.fromEntries(ids.map((id) => [String(id), context?.acknowledgements?.isIssued(context.sender, channel, id) ?? false]))
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ acks }) }
}
