import type { Receiver } from './batch.ts'
import { native } from './receivers/native/native.ts'

/** receivers are the wire protocols that are understood, in the order in which they are asked whether a path is theirs. */
export const receivers: readonly Receiver[] = [native]
