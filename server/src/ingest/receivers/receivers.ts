import type { Receiver } from '../batch.ts'
import { elasticsearch } from './elasticsearch/elasticsearch.ts'
import { native } from './native/native.ts'
import { otlp } from './otlp/otlp.ts'

/** receivers are the wire protocols that are understood, in the order in which they are asked whether a path is theirs. */
export const receivers: readonly Receiver[] = [native, otlp, elasticsearch]
