import type { IngestRequest, MessageParser, ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { messagesOf } from '../messages.ts'
import { syslogNames } from './header.ts'

/**
 * Accepts syslog messages, one per record. The message with its header is the line; detection reads the header as in any other line, so that
 * syslog in a file and on a socket give the same keys.
 */
export const syslog: MessageParser = { name: 'syslog', parse }

function parse({ body }: IngestRequest): ParsedBody {
  const batches = new Batches(body)
  const { draft } = batches
  for (const { start, end, source } of messagesOf(body)) {
    const { app, hasHost } = syslogNames(body.subarray(start, end))
    draft.clear()
    draft.setRawAt(start, end)
    if (!hasHost && source.address !== '') draft.keys.addText('hostname', source.address)
    batches.take(batches.of({ collection: undefined, dataset: app }), batches.sharedOf(source.attributes, source.zone, source.address))
  }
  return batches.parsed()
}
