import type { Receiver } from '../batch.ts'
import { elasticsearch } from './elasticsearch/elasticsearch.ts'
import { loki } from './loki/loki.ts'
import { native } from './native/native.ts'
import { otlp } from './otlp/otlp.ts'

/** The wire protocols, in the order in which their paths are tried. */
export const receivers: readonly Receiver[] = [native, otlp, loki, elasticsearch]
