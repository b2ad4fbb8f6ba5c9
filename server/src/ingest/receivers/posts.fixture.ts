import { gzipSync } from 'node:zlib'

/** A post of a protocol, without credential. */
export type ProtocolPost = { path: string; headers: Record<string, string>; body: Buffer }

/** Writes lines as a sender of each protocol does. The bytes of a line stay as they are, except where the protocol must escape them. */
export const postsOf: Readonly<Record<string, (lines: readonly Buffer[]) => ProtocolPost>> = {
  'loki json': (lines) =>
    jsonPost('/loki/api/v1/push', '{"streams":[{"stream":{"app":"a"},"values":[', ['["1714521600000000000",', ']'], ']}]}', lines),
  'loki protobuf': (lines) => ({
    path: '/loki/api/v1/push',
    headers: { 'content-type': 'application/x-protobuf' },
    body: snappyOf(field(1, Buffer.concat([field(1, Buffer.from('{app="a"}')), ...lines.map((line) => field(2, field(2, line)))]))),
  }),
  'hec events': (lines) => jsonPost('/services/collector/event', '', ['{"event":', '}'], '', lines, ''),
  'hec raw': (lines) => ({ path: '/services/collector/raw', headers: {}, body: asLines(lines) }),
  datadog: (lines) => jsonPost('/api/v2/logs', '[', ['{"message":', ',"service":"a"}'], ']', lines),
  newrelic: (lines) => jsonPost('/log/v1', '[{"common":{},"logs":[', ['{"timestamp":1714521600000,"message":', '}'], ']}]', lines),
  logdna: (lines) => jsonPost('/logs/ingest?hostname=h', '{"lines":[', ['{"app":"a","line":', '}'], ']}', lines),
  gelf: (lines) => jsonPost('/gelf', '', ['{"host":"h","short_message":', '}'], '', lines, '\n'),
  firehose: (lines) => {
    const message = jsonPost(
      '',
      '{"messageType":"DATA_MESSAGE","logGroup":"g","logEvents":[',
      ['{"timestamp":1714521600000,"message":', '}'],
      ']}',
      lines,
    )
    const data = gzipSync(message.body).toString('base64')
    return {
      path: '/firehose',
      headers: { 'content-type': 'application/json', 'x-amz-firehose-request-id': `r-${lines.length}` },
      body: Buffer.from(JSON.stringify({ requestId: `r-${lines.length}`, timestamp: 1, records: [{ data }] })),
    }
  },
  cloudflare: (lines) => ({ path: '/cloudflare', headers: {}, body: asLines(lines) }),
  vercel: (lines) => jsonPost('/vercel', '[', ['{"timestamp":1714521600000,"projectId":"p","message":', '}'], ']', lines),
  heroku: (lines) => ({
    path: '/heroku',
    headers: { 'content-type': 'application/logplex-1', 'logplex-msg-count': String(lines.length) },
    body: Buffer.concat(
      lines.flatMap((line) => {
        const frame = Buffer.concat([Buffer.from('<190>1 2024-05-01T00:00:00+00:00 host app web.1 - '), line])
        return [Buffer.from(`${frame.length} `), frame]
      }),
    ),
  }),
  journald: (lines) => ({
    path: '/upload',
    headers: { 'content-type': 'application/vnd.fdo.journal' },
    body: Buffer.concat(
      lines.flatMap((line) => {
        const size = Buffer.alloc(8)
        size.writeBigUInt64LE(BigInt(line.length))
        return [Buffer.from('__REALTIME_TIMESTAMP=1714521600000000\nMESSAGE\n'), size, line, Buffer.from('\n\n')]
      }),
    ),
  }),
}

function jsonPost(
  path: string,
  start: string,
  [before, behind]: readonly [string, string],
  end: string,
  lines: readonly Buffer[],
  between = ',',
): ProtocolPost {
  const parts = lines.flatMap((line, index) => [Buffer.from(`${index === 0 ? '' : between}${before}`), quoted(line), Buffer.from(behind)])
  return { path, headers: { 'content-type': 'application/json' }, body: Buffer.concat([Buffer.from(start), ...parts, Buffer.from(end)]) }
}

/** A JSON text with the bytes of a line. Only what would end the text or the line is escaped. */
const quoted = (line: Buffer): Buffer =>
  Buffer.from(`"${line.toString('latin1').replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`, 'latin1')

const asLines = (lines: readonly Buffer[]): Buffer => Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))

function varint(number: number): Buffer {
  const bytes: number[] = []
  let rest = number
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])

const LITERAL_BYTES_MAX = 60_000
/** Snappy without repetitions. */
export function snappyOf(bytes: Buffer): Buffer {
  const parts = [varint(bytes.length)]
  for (let at = 0; at < bytes.length; at += LITERAL_BYTES_MAX) {
    const literal = bytes.subarray(at, at + LITERAL_BYTES_MAX)
    const size = Buffer.alloc(2)
    size.writeUInt16LE(literal.length - 1)
    parts.push(Buffer.from([61 << 2]), size, literal)
  }
  return Buffer.concat(parts)
}
