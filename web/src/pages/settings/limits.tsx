import type { Limit } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Form, FormField } from '../../parts/form.tsx'
import { bytes, count, share } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { clockOf } from '../../parts/time-range.ts'
import { Input, Select } from '../../ui/field.tsx'

const LIMITS = ['limits']
const GB = 1_000_000_000
const targets = [
  ['ORGANISATION', 'the organization'],
  ['TEAM', 'a team'],
] as const

/** Limits manages the monthly ingestion limits. */
export function Limits() {
  const client = useClient()
  const list = useQuery({ queryKey: LIMITS, queryFn: ({ signal }) => client.limits.list({ signal }) })
  return (
    <>
      <NewLimit />
      <Panel title="Limits of a month">
        <Answer of={list}>
          {({ limits }) => (
            <Rows label="Limits" heads={['Of', 'Cap', 'Used this month', 'Why']} empty="No limits yet.">
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
  return (
    <Panel title="New limit">
      <Form
        action="Create limit"
        reads={LIMITS}
        conflict="target"
        onSend={(text) =>
          client.limits.create({
            body: {
              category: 'INGESTION_LIMITS',
              unit: 'BYTES',
              time_window: 'PER_MONTH',
              value: Math.round(Number(text('gigabytes')) * GB),
              target,
              scope: target === 'TEAM' ? { tag: { team: text('team') } } : {},
              ...(text('description') === '' ? {} : { description: text('description') }),
            },
          })
        }
      >
        <FormField name="Of" of="target">
          <Select value={target} options={targets} onPick={setTarget} />
        </FormField>
        {target === 'TEAM' && (
          <FormField name="Team" of="scope" help="its datasets have the tag team of this value">
            <Input name="team" required maxLength={255} />
          </FormField>
        )}
        <FormField name="Gigabytes in a month" of="value">
          <Input name="gigabytes" type="number" required min={0} step="any" />
        </FormField>
        <FormField name="Why" of="description" className="min-w-48 flex-1">
          <Input name="description" maxLength={4000} />
        </FormField>
      </Form>
      <p className="px-3 pb-3 text-soft text-xs">
        The post that would cross a cap is refused as a whole, and so is every later one until the month is over or the limit changes.
      </p>
    </Panel>
  )
}

function LimitRow({ limit }: { limit: Limit }) {
  const client = useClient()
  const params = { limitId: limit.id }
  const usage = useQuery({ queryKey: [...LIMITS, limit.id, 'usage'], queryFn: ({ signal }) => client.limits.usage({ params, signal }) })
  const [isEdited, setEdited] = useState(false)
  const remove = useAction(LIMITS, () => client.limits.remove({ params }))
  const team = limit.scope.tag?.team ?? limit.scope.tag?.value
  const cap = Number(limit.value)
  const written = limit.unit === 'BYTES' ? bytes : count
  return (
    <Row
      cells={[
        `${limit.target === 'TEAM' ? `team ${team ?? ''}` : 'the organization'}${limit.category === 'INGESTION_LIMITS' ? '' : `, ${wordsOf(limit)}`}`,
        written(cap),
        usage.data ? (
          <span key="used" className={usage.data.crossed_at === undefined ? '' : 'text-error'}>
            {written(usage.data.used)} ({share(usage.data.used, cap)})
            {usage.data.crossed_at !== undefined && `, closed since ${clockOf(usage.data.crossed_at, 'utc').day}`}
          </span>
        ) : (
          <span key="used" className="text-soft">
            {usage.error ? 'not known' : '…'}
          </span>
        ),
        <span key="why" className="text-soft">
          {limit.description}
        </span>,
      ]}
      below={isEdited && <LimitForm limit={limit} onEnd={() => setEdited(false)} />}
    >
      {limit.type === 'SYSTEM' ? (
        <span className="text-soft text-xs">set by the operator</span>
      ) : (
        <ChangeAndDelete
          isEdited={isEdited}
          onEdit={setEdited}
          message="Delete this limit? What it refused is taken again at once."
          onDelete={() => remove.mutateAsync(undefined)}
        />
      )}
    </Row>
  )
}

const wordsOf = ({ category }: Limit): string => category.toLowerCase().replaceAll('_', ' ')

function LimitForm({ limit, onEnd }: { limit: Limit; onEnd(): void }) {
  const client = useClient()
  return (
    <Form
      action="Save"
      label="Change the limit"
      reads={LIMITS}
      onSend={(text) =>
        client.limits.update({
          params: { limitId: limit.id },
          body: { value: Math.round(Number(text('gigabytes')) * GB), description: text('description') },
        })
      }
      onDone={onEnd}
      onLeave={onEnd}
    >
      <FormField name="Gigabytes in a month" of="value">
        <Input name="gigabytes" type="number" required min={0} step="any" defaultValue={Number(limit.value) / GB} />
      </FormField>
      <FormField name="Why" of="description" className="min-w-48 flex-1">
        <Input name="description" maxLength={4000} defaultValue={limit.description} />
      </FormField>
    </Form>
  )
}
