import { useEffect, useState } from 'react'
import { copyText } from '../../../parts/copy.ts'
import { bytes, count, quantity, span } from '../../../parts/numbers.ts'
import { Button } from '../../../ui/button.tsx'
import type { Live } from '../events/live-tail.ts'
import { curlOf, type ViewRequest } from '../share/curl.ts'
import type { ResultCost } from './explore-query.ts'

/** An Answered is what is known of the answer on the screen. */
export type ResultInfo = {
  /** data tells one answer from another. */
  data: unknown
  cost: ResultCost | undefined
  /** found is what the cost speaks of, where that is not the matching events. */
  label?: string
  dataUpdatedAt: number
  isFetching: boolean
  isPlaceholderData: boolean
}

type CostLineProps = { result: ResultInfo; view: ViewRequest; live: Live; isLive: boolean }

/** CostLine is how much was found and what finding it took, with the request that asks for it; an answer that was there already says so. */
export function CostLine({ result, view, live, isLive }: CostLineProps) {
  const [isCopied, setCopied] = useState(false)
  const { cost, label } = result
  const ageMs = useCacheAge(result)
  const text = isLive
    ? liveText(live)
    : cost && [label ?? `${cost.isExact ? '' : 'at least '}${quantity(cost.events, 'event')}`, ...costTexts(cost)].join(' · ')
  return (
    <span className="flex min-w-0 grow items-center justify-end gap-1">
      <span className="min-w-0 truncate text-soft tabular-nums" aria-live="polite">
        {text}
        {!isLive && cost && ageMs !== undefined && ` · from cache, ${span(ageMs)} old`}
      </span>
      <Button
        size="small"
        look="quiet"
        title="Copy this question as a request for curl"
        onClick={() => {
          void copyText(curlOf(view)).then(() => setCopied(true))
        }}
        onBlur={() => setCopied(false)}
      >
        {isCopied ? 'copied' : 'curl'}
      </Button>
      <span role="status" className="sr-only">
        {isCopied ? 'The request is copied' : ''}
      </span>
    </span>
  )
}

/** liveWords say how much arrives, and how much of it is seen. */
function liveText({ received, perSecond, sampleRate, missed }: Live): string {
  const about = sampleRate === 1 ? '' : 'about '
  const rate = `${about}${quantity(received, 'event')} seen · ${about}${perSecond.toFixed(1)} a second`
  const sampled = sampleRate === 1 ? '' : ` · too fast to show all: 1 of ${count(sampleRate)}`
  return missed === 0 ? rate + sampled : `${rate}${sampled} · ${count(missed)} missed`
}

const costTexts = ({ bytes: bytesRead, ms }: ResultCost): string[] => [
  ...(bytesRead === undefined ? [] : [`${bytes(bytesRead)} read`]),
  `${Math.round(ms)} ms`,
]

/** useWasThere is the age of an answer that this page has not asked for now, but had kept. */
function useCacheAge({ data, dataUpdatedAt, isFetching, isPlaceholderData }: ResultInfo): number | undefined {
  const [seen, setSeen] = useState<{ data: unknown; ageMs: number | undefined }>({ data: undefined, ageMs: undefined })
  useEffect(() => {
    if (data === undefined || isPlaceholderData || isFetching) return
    const ageMs = Date.now() - dataUpdatedAt
    setSeen((before) => (before.data === data ? before : { data, ageMs: ageMs < FRESH_MS ? undefined : Math.floor(ageMs / 1_000) * 1_000 }))
  }, [data, dataUpdatedAt, isFetching, isPlaceholderData])
  return seen.data === data ? seen.ageMs : undefined
}

/** JUST_NOW_MS is longer than an answer takes from the store of the page to the eye. */
const FRESH_MS = 1_000
