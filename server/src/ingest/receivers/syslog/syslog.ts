import type { IngestRequest, MessageParser, Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { type MessageSource, messagesOf } from '../messages.ts'
import { syslogNames } from './header.ts'

/**
 * Accepts syslog messages, one per record. The message with its header is the line; detection reads the header as in any other line, so that
 * syslog in a file and on a socket give the same keys.
 */
export const syslog: MessageParser = { name: 'syslog', parse }

const NO_KEYS: readonly Pair[] = []

function parse({ body }: IngestRequest): ParsedBody {
  const records = new Batches()
  const hosts = new Map<MessageSource, readonly Pair[]>()
  // Messages of one sender share the list, so that they also share what is computed from it.
  const hostOf = (source: MessageSource): readonly Pair[] => {
    const known = hosts.get(source) ?? (source.address === '' ? NO_KEYS : [['hostname', source.address]])
    hosts.set(source, known)
    return known
  }
  for (const { start, end, source } of messagesOf(body)) {
    const raw = body.subarray(start, end)
    const { app, hasHost } = syslogNames(raw)
    const record: ReceivedRecord = {
      raw,
      time: undefined,
      level: undefined,
      keys: hasHost ? NO_KEYS : hostOf(source),
      attributes: source.attributes,
      origin: source.address,
      ...(source.zone !== undefined && { zone: source.zone }),
    }
    records.add(records.of({ collection: undefined, dataset: app }), record)
  }
  return records.parsed()
}
