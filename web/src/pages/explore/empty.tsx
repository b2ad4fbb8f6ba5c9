import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'
import { ago, count } from '../../parts/numbers.ts'
import { askedRange } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import type { Asked } from './asked.ts'
import { splitClauses, withoutClause } from './clauses.ts'
import { type Question, sourceOf } from './questions.ts'

type NothingFoundProps = {
  asked: Asked
  question: Question
  isLive: boolean
  hasDatasets: boolean
  onChange(by: (now: Asked) => Asked): void
}

const HOUR_MS = 3_600_000

/** NothingFound says why there is nothing to see, and the way out: nothing was ever received, nothing in this range, or conditions that nothing meets. */
export function NothingFound({ asked, question, isLive, hasDatasets, onChange }: NothingFoundProps) {
  if (!hasDatasets) {
    return (
      <Box title="Nothing has been received yet">
        <p>Send the first event, and it will be here.</p>
        <a className="text-accent underline" href="/app/data">
          How to send
        </a>
      </Box>
    )
  }
  if (isLive) return <Box title="Waiting for events">Whatever arrives and matches is shown here at once.</Box>
  return splitClauses(question.where).length > 0 ? (
    <Excluded asked={asked} question={question} onChange={onChange} />
  ) : (
    <OutOfRange question={question} onChange={onChange} />
  )
}

function Box({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 p-10 text-center">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </div>
  )
}

function OutOfRange({ question, onChange }: Pick<NothingFoundProps, 'question' | 'onChange'>) {
  const client = useClient()
  const last = useQuery({
    queryKey: ['last event', question.datasets, question.turn],
    queryFn: ({ signal }) =>
      client.search.run({ body: { ...sourceOf(question), time_range: '', select: ['@time'], limit: 1 }, signal, repeatable: true }),
  })
  const atMs = last.data?.events[0]?.metadata.timestamp
  return (
    <Box title="Nothing in this range">
      {atMs !== undefined && (
        <>
          <p className="text-soft">The last event was {ago(atMs, Date.now())}.</p>
          <Button
            look="main"
            onClick={() =>
              onChange((now) => {
                const { r: _r, ...rest } = now
                return { ...rest, f: atMs - HOUR_MS, t: atMs + 1 }
              })
            }
          >
            Jump to it
          </Button>
        </>
      )}
      {last.data && atMs === undefined && <p className="text-soft">These datasets hold no events.</p>}
    </Box>
  )
}

/** Excluded counts what each condition leaves alone, so that the one to blame is seen. */
function Excluded({ asked, question, onChange }: Pick<NothingFoundProps, 'asked' | 'question' | 'onChange'>) {
  const client = useClient()
  const clauses = splitClauses(question.where)
  const counts = useQuery({
    queryKey: ['counts of conditions', question.datasets, question.where, question.range, question.turn],
    queryFn: ({ signal }) =>
      Promise.all(
        clauses.slice(0, 10).map(async (where) => {
          const body = { ...sourceOf(question), ...askedRange(question.range), select: ['count(*)'], num_of_slices: 1, where }
          return Number((await client.search.run({ body, signal, repeatable: true })).totals.count)
        }),
      ),
  })
  return (
    <Box title="No event meets all conditions">
      <ul className="flex max-w-full flex-col gap-1">
        {clauses.map((clause, at) => (
          <li key={clause} className="flex items-center gap-3">
            <code className="min-w-0 flex-1 truncate text-left font-mono text-xs">{clause}</code>
            <span className="text-soft text-xs tabular-nums">
              {counts.data?.[at] === undefined ? '' : `alone: ${count(counts.data[at])}`}
            </span>
            <Button
              size="small"
              onClick={() =>
                onChange((now) => {
                  const { q: _q, ...rest } = now
                  const q = withoutClause(asked.q ?? '', clause)
                  return q === '' ? rest : { ...rest, q }
                })
              }
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
    </Box>
  )
}
