import { Panel } from '../../parts/page.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import type { Draft, Target } from './draft.ts'
import { usePlaces } from './questions.ts'

type TellFieldsProps = { draft: Draft; onChange(change: Partial<Draft>): void }

const ACTIONS_MAX = 10
const MAIL = 'mail'

/** TellFields say who is told: addresses, webhooks and chats, and what goes along. */
export function TellFields({ draft, onChange }: TellFieldsProps) {
  const { targets, notifyOnce, hasReport, reportText } = draft
  const change = (at: number, by: Target) => onChange({ targets: targets.map((one, index) => (index === at ? by : one)) })
  return (
    <Panel title="Who is told">
      <div className="flex flex-col gap-3 p-3">
        {targets.map((target, at) => (
          <OneTarget
            // biome-ignore lint/suspicious/noArrayIndexKey: a target is known by its place, its address is being written
            key={at}
            target={target}
            onChange={(by) => change(at, by)}
            onRemove={targets.length > 1 ? () => onChange({ targets: targets.filter((_, index) => index !== at) }) : undefined}
          />
        ))}
        {targets.length < ACTIONS_MAX && (
          <Button size="small" look="quiet" className="self-start" onClick={() => onChange({ targets: [...targets, { email: '' }] })}>
            + somebody else
          </Button>
        )}
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={notifyOnce} onChange={(event) => onChange({ notifyOnce: event.target.checked })} />
          Tell once for all groups: of the first that alerts, and when the last is well again
        </label>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={hasReport} onChange={(event) => onChange({ hasReport: event.target.checked })} />
          Send a report along of what was different
        </label>
        {hasReport && (
          <Field name="What the report should look at">
            <TextArea value={reportText} maxLength={4_000} onChange={(event) => onChange({ reportText: event.target.value })} />
          </Field>
        )}
      </div>
    </Panel>
  )
}

type OneTargetProps = { target: Target; onChange(by: Target): void; onRemove: (() => void) | undefined }

function OneTarget({ target, onChange, onRemove }: OneTargetProps) {
  const places = usePlaces()
  const isMail = target.email !== undefined
  const known = (places.data ?? []).map(({ id, name }) => [id, name] as const)
  const own = isMail ? MAIL : (target.integration_id ?? '')
  const gone = isMail || known.some(([id]) => id === own) ? [] : [[own, places.data ? 'An integration that is gone' : '…'] as const]
  return (
    <div className="flex items-end gap-2">
      <Field name="By" className="w-44 shrink-0">
        <Select
          value={own}
          options={[[MAIL, 'E-mail'], ...known, ...gone]}
          onPick={(next) => onChange(next === MAIL ? { email: '' } : { integration_id: next })}
        />
      </Field>
      {isMail ? (
        <Field name="Address" className="flex-1">
          <Input
            type="email"
            placeholder="oncall@example.org"
            value={target.email}
            onChange={(event) => onChange({ ...target, email: event.target.value })}
          />
        </Field>
      ) : (
        <span className="flex-1" />
      )}
      {onRemove && (
        <Button look="quiet" aria-label="Remove this one" onClick={onRemove}>
          ×
        </Button>
      )}
    </div>
  )
}
