import type { IngestRequest, MessageParser, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { messagesOf } from '../messages.ts'
import { syslogNames } from './header.ts'

/**
 * Accepts syslog messages, one per record. The message with its header is the line; detection reads the header as in any other line, so that
 * syslog in a file and on a socket give the same keys.
 */
export const syslog: MessageParser = { name: 'syslog', parse }

function parse({ body }: IngestRequest): ParsedBody {
  const records = new Batches()
  for (const { start, end, source } of messagesOf(body)) {
    const raw = body.subarray(start, end)
    const { app, hasHost } = syslogNames(raw)
    const record: ReceivedRecord = {
      raw,
      time: undefined,
      level: undefined,
      keys: hasHost || source.address === '' ? [] : [['hostname', source.address]],
      attributes: source.attributes,
      origin: source.address,
    }
    records.add(records.of({ collection: undefined, dataset: app }), record)
  }
  return records.parsed()
}
