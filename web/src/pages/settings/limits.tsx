import type { Limit } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { bytes, share } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { clockOf } from '../../parts/time-range.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import { Answer, given, Row, Rows, useAct } from './rows.tsx'

const LIMITS = ['limits']
const GB = 1_000_000_000
const targets = [
  ['ORGANISATION', 'the organisation'],
  ['TEAM', 'a team'],
] as const

/** Limits cap what may be sent in a calendar month. */
export function Limits() {
  const client = useClient()
  const list = useQuery({ queryKey: LIMITS, queryFn: ({ signal }) => client.limits.list({ signal }) })
  return (
    <>
      <NewLimit />
      <Panel title="Limits of a month">
        <Answer of={list}>
          {({ limits }) => (
            <Rows label="Limits" heads={['Of', 'Cap', 'Used this month', 'Why']} empty="Nothing is limited.">
              {limits.map((limit) => (
                <LimitRow key={limit.id} limit={limit} />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

function NewLimit() {
  const client = useClient()
  const [target, setTarget] = useState<(typeof targets)[number][0]>('ORGANISATION')
  const create = useAct(LIMITS, (draft: { gigabytes: number; team: string; description: string }) =>
    client.limits.create({
      body: {
        category: 'INGESTION_LIMITS',
        unit: 'BYTES',
        time_window: 'PER_MONTH',
        value: Math.round(draft.gigabytes * GB),
        target,
        scope: target === 'TEAM' ? { tag: { team: draft.team } } : {},
        ...(draft.description === '' ? {} : { description: draft.description }),
      },
    }),
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    const text = given(form)
    create.mutate(
      { gigabytes: Number(text('gigabytes')), team: text('team'), description: text('description') },
      { onSuccess: () => form.reset() },
    )
  }
  return (
    <Panel title="New limit">
      <form onSubmit={send} className="flex flex-wrap items-end gap-2 p-3">
        <Field name="Of">
          <Select value={target} options={targets} onPick={(picked) => setTarget(picked === 'TEAM' ? 'TEAM' : 'ORGANISATION')} />
        </Field>
        {target === 'TEAM' && (
          <Field name="Team" help="its datasets have the tag team of this value">
            <Input name="team" required maxLength={255} />
          </Field>
        )}
        <Field name="Gigabytes in a month">
          <Input name="gigabytes" type="number" required min={0} step="any" />
        </Field>
        <Field name="Why" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} />
        </Field>
        <Button type="submit" look="main" disabled={create.isPending}>
          Set the limit
        </Button>
      </form>
      <p className="px-3 pb-3 text-soft text-xs">
        The post that would cross a cap is refused as a whole, and so is every later one until the month is over or the limit changes.
      </p>
      {create.error && <FailureNote thrown={create.error} />}
    </Panel>
  )
}

function LimitRow({ limit }: { limit: Limit }) {
  const client = useClient()
  const params = { limitId: limit.id }
  const usage = useQuery({ queryKey: [...LIMITS, limit.id, 'usage'], queryFn: ({ signal }) => client.limits.usage({ params, signal }) })
  const [draft, setDraft] = useState<string>()
  const change = useAct(LIMITS, (value: number) => client.limits.update({ params, body: { value } }))
  const remove = useAct(LIMITS, () => client.limits.remove({ params }))
  const team = limit.scope.tag?.team ?? limit.scope.tag?.value
  const cap = Number(limit.value)
  return (
    <Row
      cells={[
        limit.target === 'TEAM' ? `team ${team ?? ''}` : 'the organisation',
        draft === undefined ? (
          bytes(cap)
        ) : (
          <Input
            key="cap"
            type="number"
            min={0}
            step="any"
            aria-label="Gigabytes in a month"
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
        ),
        usage.data ? (
          <span key="used" className={usage.data.crossed_at === undefined ? '' : 'text-error'}>
            {bytes(usage.data.used)} ({share(usage.data.used, cap)})
            {usage.data.crossed_at !== undefined && `, closed since ${clockOf(usage.data.crossed_at, 'utc').day}`}
          </span>
        ) : (
          ''
        ),
        <span key="why" className="text-soft">
          {limit.description}
        </span>,
      ]}
    >
      {change.error ? <FailureNote thrown={change.error} /> : null}
      {draft !== undefined && (
        <Button
          size="small"
          look="main"
          disabled={draft === '' || change.isPending}
          onClick={() => change.mutate(Math.round(Number(draft) * GB), { onSuccess: () => setDraft(undefined) })}
        >
          Save
        </Button>
      )}
      <Button size="small" onClick={() => setDraft(draft === undefined ? String(cap / GB) : undefined)}>
        {draft === undefined ? 'Change' : 'Keep'}
      </Button>
      <Confirm
        size="small"
        action="Delete"
        question="Delete this limit? What it refused is taken again at once."
        onYes={() => remove.mutateAsync(undefined)}
      />
    </Row>
  )
}
