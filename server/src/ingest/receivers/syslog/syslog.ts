import type { IngestRequest, MessageParser, ParsedBody } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { messagesOf } from '../messages.ts'
import { SyslogHeaders } from './header.ts'

/**
 * Accepts syslog messages, one per record. The message with its header is the line; detection reads the header as in any other line, so that
 * syslog in a file and on a socket give the same keys.
 */
export const syslog: MessageParser = { name: 'syslog', parse }

function parse({ body }: IngestRequest): ParsedBody {
  const batches = new Batches(body)
  const { draft } = batches
  const headers = new SyslogHeaders(body)
  for (const { start, end, source } of messagesOf(body)) {
    headers.read(start, end)
    draft.clear()
    draft.setRawAt(start, end)
    if (!headers.hasHost && source.address !== '') draft.keys.addText('hostname', source.address)
    batches.take(
      batches.of({ collection: undefined, dataset: headers.app }),
      batches.sharedOf(source.attributes, source.zone, source.address),
    )
  }
  return batches.parsed()
}
