import type { MessageParser, Receiver } from '../batch.ts'
import { cloudflare } from './cloudflare/cloudflare.ts'
import { datadog } from './datadog/datadog.ts'
import { elasticsearch } from './elasticsearch/elasticsearch.ts'
import { file, object } from './file/file.ts'
import { firehose } from './firehose/firehose.ts'
import { forward } from './forward/forward.ts'
import { gelf } from './gelf/gelf.ts'
import { gelfHttp } from './gelf/gelf-http.ts'
import { hec } from './hec/hec.ts'
import { heroku } from './heroku/heroku.ts'
import { jaeger } from './jaeger/jaeger.ts'
import { journald } from './journald/journald.ts'
import { kafka } from './kafka/kafka.ts'
import { logdna } from './logdna/logdna.ts'
import { loki } from './loki/loki.ts'
import { native } from './native/native.ts'
import { newrelic } from './newrelic/newrelic.ts'
import { otlp } from './otlp/otlp.ts'
import { rehydrated } from './rehydrated/rehydrated.ts'
import { sampled } from './sampled/sampled.ts'
import { syslog } from './syslog/syslog.ts'
import { vercel } from './vercel/vercel.ts'
import { zipkin } from './zipkin/zipkin.ts'

/** The wire protocols over HTTP, in the order in which their paths are tried. */
export const receivers: readonly Receiver[] = [
  native,
  otlp,
  loki,
  hec,
  datadog,
  newrelic,
  logdna,
  gelfHttp,
  firehose,
  cloudflare,
  vercel,
  heroku,
  journald,
  zipkin,
  jaeger,
  elasticsearch,
]

/** Everything that a worker can parse: the protocols over HTTP, those on sockets of their own, and those of sources. */
export const parsers: readonly MessageParser[] = [...receivers, syslog, gelf, forward, file, object, kafka, rehydrated, sampled]
