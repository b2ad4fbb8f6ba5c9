import { useEffect, useState } from 'react'
import { bytes, count, quantity, span } from '../../../parts/chart/numbers.ts'
import { CopyButton } from '../../../parts/shell/copy-button.tsx'
import type { LiveTail } from '../events/live/live-tail.ts'
import { curlOf, type ViewRequest } from '../share/curl.ts'
import type { ResultCost } from './explore-query.ts'

/** Describes the result on the screen. */
export type ResultInfo = {
  /** Identifies a result. */
  data: unknown
  cost: ResultCost | undefined
  /** Replaces the number of matching events. */
  label?: string
  dataUpdatedAt: number
  isFetching: boolean
  isPlaceholderData: boolean
}

type CostLineProps = { result: ResultInfo; view: ViewRequest; live: LiveTail; isLive: boolean }

/** Shows the number of results, the cost of the query and the age of a cached result, and copies the request as curl. */
export function CostLine({ result, view, live, isLive }: CostLineProps) {
  const { cost, label } = result
  const ageMs = useCacheAge(result)
  const [text, more] = isLive
    ? [liveText(live)]
    : cost
      ? [label ?? `${cost.isExact ? '' : 'at least '}${quantity(cost.events, 'event')}`, costTexts(cost, ageMs).join('')]
      : []
  return (
    <span className="flex min-w-0 grow basis-0 items-center justify-end gap-1">
      <span className="min-w-0 flex-1 truncate text-right text-soft tabular-nums" aria-live="polite">
        {/* Another text is another element: this one does not move. */}
        <span key={`${text} ${more}`}>
          {text}
          {/* A phone has room for the number. */}
          <span className="max-sm:hidden">{more}</span>
        </span>
      </span>
      <CopyButton
        size="small"
        variant="quiet"
        className="max-sm:hidden"
        title="Copy this query as a curl command"
        text={() => curlOf(view)}
        content={JSON.stringify(view)}
      >
        curl
      </CopyButton>
    </span>
  )
}

/** Shows the received events, their rate and how many of them are shown. */
function liveText({ received, perSecond, sampleRate, missed }: LiveTail): string {
  const about = sampleRate === 1 ? '' : 'about '
  const rate = `${about}${quantity(received, 'event')} received · ${about}${perSecond.toFixed(1)} per second`
  const sampled = sampleRate === 1 ? '' : ` · sampled 1 in ${count(sampleRate)}`
  return missed === 0 ? rate + sampled : `${rate}${sampled} · ${count(missed)} missed`
}

const costTexts = ({ bytes: bytesRead, ms }: ResultCost, ageMs: number | undefined): string[] => [
  ...(bytesRead === undefined ? [] : [` · ${bytes(bytesRead)} read`]),
  ` · ${Math.round(ms)} ms`,
  ...(ageMs === undefined ? [] : [` · from cache, ${span(ageMs)} old`]),
]

/** The age of a result from the cache, undefined for a fresh result. */
function useCacheAge({ data, dataUpdatedAt, isFetching, isPlaceholderData }: ResultInfo): number | undefined {
  const [seen, setSeen] = useState<{ data: unknown; ageMs: number | undefined }>({ data: undefined, ageMs: undefined })
  useEffect(() => {
    if (data === undefined || isPlaceholderData || isFetching) return
    const ageMs = Date.now() - dataUpdatedAt
    setSeen((before) => (before.data === data ? before : { data, ageMs: ageMs < FRESH_MS ? undefined : Math.floor(ageMs / 1_000) * 1_000 }))
  }, [data, dataUpdatedAt, isFetching, isPlaceholderData])
  return seen.data === data ? seen.ageMs : undefined
}

/** The age below which a result counts as fresh. */
const FRESH_MS = 1_000
