import { useEffect, useState } from 'react'
import { copyText } from '../../parts/copy.ts'
import { bytes, count, quantity, span } from '../../parts/numbers.ts'
import { Button } from '../../ui/button.tsx'
import type { Live } from './live.ts'
import type { Cost } from './questions.ts'
import { curlOf, type Shown } from './request.ts'

/** An Answered is what is known of the answer on the screen. */
export type Answered = {
  /** data tells one answer from another. */
  data: unknown
  cost: Cost | undefined
  /** found is what the cost speaks of, where that is not the matching events. */
  found?: string
  dataUpdatedAt: number
  isFetching: boolean
  isPlaceholderData: boolean
}

type CostLineProps = { answered: Answered; shown: Shown; live: Live; isLive: boolean }

/** CostLine is how much was found and what finding it took, with the request that asks for it; an answer that was there already says so. */
export function CostLine({ answered, shown, live, isLive }: CostLineProps) {
  const [isCopied, setCopied] = useState(false)
  const { cost, found } = answered
  const ageMs = useWasThere(answered)
  const said = isLive
    ? liveWords(live)
    : cost && [found ?? `${cost.isExact ? '' : 'at least '}${quantity(cost.events, 'event')}`, ...took(cost)].join(' · ')
  return (
    <span className="flex min-w-0 grow items-center justify-end gap-1">
      <span className="min-w-0 truncate text-soft tabular-nums" aria-live="polite">
        {said}
        {!isLive && cost && ageMs !== undefined && ` · from cache, ${span(ageMs)} old`}
      </span>
      <Button
        size="small"
        look="quiet"
        title="Copy this question as a request for curl"
        onClick={() => {
          void copyText(curlOf(shown)).then(() => setCopied(true))
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
function liveWords({ seen, perSecond, oneOf, missed }: Live): string {
  const about = oneOf === 1 ? '' : 'about '
  const rate = `${about}${quantity(seen, 'event')} seen · ${about}${perSecond.toFixed(1)} a second`
  const sampled = oneOf === 1 ? '' : ` · too fast to show all: 1 of ${count(oneOf)}`
  return missed === 0 ? rate + sampled : `${rate}${sampled} · ${count(missed)} missed`
}

const took = ({ bytes: read, ms }: Cost): string[] => [...(read === undefined ? [] : [`${bytes(read)} read`]), `${Math.round(ms)} ms`]

/** useWasThere is the age of an answer that this page has not asked for now, but had kept. */
function useWasThere({ data, dataUpdatedAt, isFetching, isPlaceholderData }: Answered): number | undefined {
  const [asked, setAsked] = useState<{ data: unknown; ageMs: number | undefined }>({ data: undefined, ageMs: undefined })
  useEffect(() => {
    if (data === undefined || isPlaceholderData || isFetching) return
    const ageMs = Date.now() - dataUpdatedAt
    setAsked((before) =>
      before.data === data ? before : { data, ageMs: ageMs < JUST_NOW_MS ? undefined : Math.floor(ageMs / 1_000) * 1_000 },
    )
  }, [data, dataUpdatedAt, isFetching, isPlaceholderData])
  return asked.data === data ? asked.ageMs : undefined
}

/** JUST_NOW_MS is longer than an answer takes from the store of the page to the eye. */
const JUST_NOW_MS = 1_000
