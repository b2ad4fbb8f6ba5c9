import type { ForwardConfig, ForwardDelivery } from '@dendro/api'

/** The name of the object for the events of one dataset. */
type PlannedObject = { readonly log_id: string; readonly key: string }

/**
 * A payload whose delivery has begun: the events with numbers above `after` and up to `to` that match. It is saved before the first request, so that
 * a repeat, also by another process, sends the same events under the same names.
 */
export type PlannedPayload = {
  readonly after: string
  readonly to: string
  readonly filter: string
  readonly format: ForwardConfig['format']
  readonly compression: ForwardConfig['compression']
  readonly objects: readonly PlannedObject[]
}

/** Events that waited when an attempt failed: their number up to the number `to`. */
type WaitingEvents = { readonly to: string; readonly events: number; readonly oldest_at?: number }

export type DeliveryState = {
  readonly delivered_events: number
  readonly delivered_payloads: number
  readonly lost_events: number
  readonly last_delivered_at?: number
  /** Consecutive failed attempts. */
  readonly failures: number
  readonly delayed_since?: number
  readonly last_error?: string
  readonly waiting?: WaitingEvents
  /** When events were first seen to wait for a payload. */
  readonly buffered_since?: number
  /** The average size of a line, by which the size of waiting events is estimated. */
  readonly line_bytes: number
}

const LINE_BYTES = 500

export const FIRST_STATE: DeliveryState = {
  delivered_events: 0,
  delivered_payloads: 0,
  lost_events: 0,
  failures: 0,
  line_bytes: LINE_BYTES,
}

export const deliveryReply = (state: DeliveryState): ForwardDelivery => ({
  status: state.failures > 0 ? 'DELAYED' : 'OK',
  delivered_events: state.delivered_events,
  delivered_payloads: state.delivered_payloads,
  ...(state.last_delivered_at === undefined ? {} : { last_delivered_at: state.last_delivered_at }),
  ...(state.delayed_since === undefined ? {} : { delayed_since: state.delayed_since }),
  ...(state.last_error === undefined ? {} : { last_error: state.last_error }),
  ...(state.waiting === undefined ? {} : { waiting_events: state.waiting.events }),
  ...(state.waiting?.oldest_at === undefined ? {} : { oldest_waiting_at: state.waiting.oldest_at }),
  lost_events: state.lost_events,
})

type Thresholds = Pick<ForwardConfig, 'max_payload_size_bytes' | 'max_payload_size_events' | 'max_buffer_time_ms'>

/** Whether the waiting events make a payload. A clock that was set back must not delay them further. */
export function isPayloadDue(config: Thresholds, waitingEvents: number, state: DeliveryState, nowMs: number): boolean {
  if (waitingEvents === 0) return false
  if (waitingEvents >= config.max_payload_size_events) return true
  if (waitingEvents * state.line_bytes >= config.max_payload_size_bytes) return true
  const sinceMs = state.buffered_since ?? nowMs
  return nowMs < sinceMs || nowMs - sinceMs >= config.max_buffer_time_ms
}

const RETRY_MIN_MS = 5_000
const RETRY_MAX_MS = 300_000
const ERROR_CHARACTERS_MAX = 500

export const retryInMs = (failures: number): number => Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** Math.max(0, failures - 1))

/** The events that waited at the last failure and are gone now. */
export const lostOf = ({ waiting }: DeliveryState, waitingNow: number): number => Math.max(0, (waiting?.events ?? 0) - waitingNow)

export const afterFailure = (state: DeliveryState, message: string, waiting: WaitingEvents | undefined, nowMs: number): DeliveryState => ({
  ...state,
  failures: state.failures + 1,
  delayed_since: state.delayed_since ?? nowMs,
  last_error: message.slice(0, ERROR_CHARACTERS_MAX),
  ...(waiting ? { waiting } : {}),
})

export type DeliveredCounts = { readonly events: number; readonly payloads: number; readonly bytes: number }

export function afterDelivery(state: DeliveryState, delivered: DeliveredCounts, nowMs: number): DeliveryState {
  const { delayed_since: _, last_error: __, waiting: ___, buffered_since: ____, ...kept } = state
  return {
    ...kept,
    failures: 0,
    delivered_events: state.delivered_events + delivered.events,
    delivered_payloads: state.delivered_payloads + delivered.payloads,
    ...(delivered.payloads > 0 ? { last_delivered_at: nowMs } : {}),
    ...(delivered.events > 0 ? { line_bytes: Math.max(1, Math.round(delivered.bytes / delivered.events)) } : {}),
  }
}
