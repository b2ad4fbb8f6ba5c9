import type { contract, ReplyOf } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { money } from '../../../parts/chart/money.ts'
import { bytes, count, quantity } from '../../../parts/chart/numbers.ts'
import { useSettled } from '../../../parts/query/settled.ts'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { Loading, Panel } from '../../../parts/shell/page.tsx'
import { clockOf, type Zone } from '../../../parts/time/time-range.ts'
import { useZone } from '../../../parts/time/zone.ts'
import { percentText } from './action-text.ts'
import { changedParts } from './changed-parts.ts'
import { useMonth } from './ledger.ts'
import { missingInAction, type RuleDraft, sourceOf } from './rule-draft.ts'

const PAUSE_MS = 400
const SAMPLES = 10

/** What a rule would do to recent events: how many, how much, and samples before and after. */
export function RulePreview({ draft }: { draft: RuleDraft }) {
  const client = useClient()
  const [zone] = useZone()
  const wanted = { ...sourceOf(draft), where: draft.where, action: draft.action, limit: SAMPLES }
  const settled = useSettled(JSON.stringify(wanted), PAUSE_MS)
  const body = useMemo((): typeof wanted => JSON.parse(settled), [settled])
  const missing = missingInAction(body.action)
  const decidesLater = body.action.type === 'TAIL_SAMPLE'
  const preview = useQuery({
    queryKey: ['ingest rule preview', body],
    queryFn: ({ signal }) => client.ingestRules.preview({ body, signal }),
    placeholderData: keepPreviousData,
    retry: false,
    enabled: missing === undefined && !decidesLater,
  })
  const month = useMonth(draft.from)
  const { data, error } = preview
  if (decidesLater) {
    return (
      <Panel title="Effect on recent events">
        <p className="p-3 text-soft">This action decides about whole traces while they arrive, so it cannot be tried on single events.</p>
      </Panel>
    )
  }
  return (
    <Panel title="Effect on recent events">
      {error && <FailureNote thrown={error} />}
      {missing !== undefined && <p className="p-3 text-soft">Shown when the action has {missing}.</p>}
      {!data && !error && missing === undefined && <Loading />}
      {data && !error && missing === undefined && (
        <div className="flex flex-col gap-3 p-3" aria-busy={preview.isPlaceholderData}>
          {data.events === 0 ? (
            <p className="text-soft">These datasets received no events in the last 7 days.</p>
          ) : (
            <>
              <p role="status">
                {readText(data, zone)} {count(data.matched)} match: {count(data.dropped)} would be dropped and {count(data.changed)}{' '}
                changed, which {Number(data.bytes_saved) < 0 ? 'adds' : 'saves'}{' '}
                <b className="whitespace-nowrap">{percentText(Math.abs(data.share_saved))}</b> of the bytes
                {month && data.share_saved > 0 && (
                  <>
                    , about {bytes(Math.round(month.bytes * data.share_saved))}
                    {month.cost && <> or {money(month.cost.amount * data.share_saved, month.cost.currency)}</>} a month
                  </>
                )}
                .
              </p>
              {!data.is_whole && (
                <p className="text-soft">Older events of the last 7 days were not tried; of those, other shares may match.</p>
              )}
              {data.samples.length === 0 && (
                <p className="text-soft">None of these events would be dropped or changed. Later ones may be.</p>
              )}
              <ul className="flex flex-col gap-2">
                {data.samples.map(({ time, before, after, added, moved_to }, at) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: samples have no id and are replaced as a whole
                  <li key={at} className="rounded border border-line">
                    <p className="border-line border-b bg-sunk px-2 py-0.5 text-soft text-xs tabular-nums">
                      {clockOf(time, zone).day} {clockOf(time, zone).clock}
                      {after === undefined && <span className="ml-2 text-error">dropped</span>}
                    </p>
                    <Sample before={before} after={after} />
                    {added && (
                      <p className={`${lineClass} border-line border-t`}>
                        {Object.entries(added).map(([name, value]) => (
                          <ins key={name} className="mr-2 rounded bg-tint px-0.5 no-underline">
                            {name} = {value}
                          </ins>
                        ))}
                      </p>
                    )}
                    {moved_to && (
                      <p className="border-line border-t px-2 py-1 text-xs">
                        to {moved_to.collection}.{moved_to.dataset}
                      </p>
                    )}
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </Panel>
  )
}

type Preview = ReplyOf<typeof contract.ingestRules.preview>

/** Which events were tried: all of the week, or the newest, which may be those of a moment. */
function readText({ events, is_whole, start_time, end_time }: Preview, zone: Zone): string {
  if (is_whole) return `Of ${events === 1 ? 'the only event' : `all ${count(events)} events`} of the last 7 days`
  const newest = `Of the newest ${quantity(events, 'event')}`
  if (start_time === undefined || end_time === undefined) return newest
  const [from, to] = [clockOf(start_time, zone), clockOf(end_time, zone)]
  return `${newest}, from ${from.day} ${seconds(from.clock)} to ${to.day === from.day ? '' : `${to.day} `}${seconds(to.clock)},`
}

const seconds = (clock: string): string => clock.slice(0, 8)

const lineClass = 'wrap-anywhere whitespace-pre-wrap px-2 py-1 font-mono text-xs'

function Sample({ before, after }: { before: string; after: string | undefined }) {
  if (after === undefined) return <p className={`${lineClass} text-soft`}>{before}</p>
  if (after === before) return <p className={lineClass}>{before}</p>
  const { start, before: old, after: now, end } = changedParts(before, after)
  return (
    <>
      <p className={`${lineClass} text-soft`}>
        {start}
        <del className="rounded bg-mark px-0.5 text-ink">{old}</del>
        {end}
      </p>
      <p className={`${lineClass} border-line border-t`}>
        {start}
        <ins className="rounded bg-tint px-0.5 no-underline">{now}</ins>
        {end}
      </p>
    </>
  )
}
