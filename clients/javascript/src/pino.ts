import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { BatchSender } from './batch-sender.ts'
import { LineSplitter } from './line-splitter.ts'
import type { SenderOptions } from './sender-options.ts'

/**
 * A destination for pino. With `pino.transport({ target: '@dendro/logs/pino', options })` it runs in a worker thread; `pino(dendro(options))` runs it in
 * the thread of the application, where callbacks are possible.
 */
function dendro(options: SenderOptions = {}): Writable {
  const sender = new BatchSender(options)
  const lines = new LineSplitter((line) => sender.send(line))
  const decoder = new StringDecoder('utf8')
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _, done) => {
      lines.add(typeof chunk === 'string' ? chunk : decoder.write(chunk))
      done()
    },
    final: (done) => {
      lines.end()
      sender.close().then(() => done(), done)
    },
  })
}

// biome-ignore lint/style/noDefaultExport: pino loads the default export of a transport
export default dendro
