import type { MessageParser, Receiver } from '../batch.ts'
import { elasticsearch } from './elasticsearch/elasticsearch.ts'
import { forward } from './forward/forward.ts'
import { gelf } from './gelf/gelf.ts'
import { loki } from './loki/loki.ts'
import { native } from './native/native.ts'
import { otlp } from './otlp/otlp.ts'
import { syslog } from './syslog/syslog.ts'

/** The wire protocols over HTTP, in the order in which their paths are tried. */
export const receivers: readonly Receiver[] = [native, otlp, loki, elasticsearch]

/** Everything that a worker can parse: the protocols over HTTP, and those on sockets of their own. */
export const parsers: readonly MessageParser[] = [...receivers, syslog, gelf, forward]
