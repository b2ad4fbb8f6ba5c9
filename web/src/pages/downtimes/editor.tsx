import type { Downtime } from '@dendro/api'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useSave } from '../../parts/records/save.ts'
import { BackToDowntimes } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { useZone } from '../../parts/time/zone.ts'
import { Choices } from '../../ui/choices.tsx'
import { Field, Input, Select, TextArea } from '../../ui/field.tsx'
import { Scope } from './scope.tsx'
import { type DowntimeDay, localText, minuteOf, minuteText, spanText, upcoming, WALL_ZONE, weekdays } from './times.ts'

const HOUR_MS = 3_600_000

type Draft = {
  name: string
  description: string
  from: readonly string[]
  strategy: Downtime['alert_strategy']
  isRecoveryQuiet: boolean
  form: 'once' | 'weekly'
  begins: string
  ends: string
  fromMinute: string
  toMinute: string
  isInverted: boolean
  days: readonly DowntimeDay[]
}

function draftOf(downtime: Downtime | undefined): Draft {
  const { static_time_range: fixed, dynamic_time_range: weekly } = downtime ?? {}
  return {
    name: downtime?.name ?? '',
    description: downtime?.description ?? '',
    from: downtime?.from ?? [],
    strategy: downtime?.alert_strategy ?? 'DELAY',
    isRecoveryQuiet: downtime?.suppress_recovery_alert ?? false,
    form: weekly ? 'weekly' : 'once',
    begins: localText(fixed?.from ?? Date.now()),
    ends: localText(fixed?.to ?? Date.now() + HOUR_MS),
    fromMinute: minuteText(weekly?.from_minute_of_day ?? 22 * 60),
    toMinute: minuteText(weekly?.to_minute_of_day ?? 6 * 60),
    isInverted: weekly?.invert ?? false,
    days: weekly?.repeat_days ?? [],
  }
}

/** The request body; undefined while a required field is missing. */
function bodyOf(draft: Draft) {
  const { name, description, from } = draft
  if (name.trim() === '' || description.trim() === '' || from.length === 0) return undefined
  const settings = {
    name: name.trim(),
    description: description.trim(),
    from: [...from],
    alert_strategy: draft.strategy,
    suppress_recovery_alert: draft.isRecoveryQuiet,
  }
  const times = timesOf(draft)
  return times && { ...settings, ...times }
}

/** The schedule; undefined while it is invalid. */
function timesOf(draft: Draft): Pick<Downtime, 'static_time_range' | 'dynamic_time_range'> | undefined {
  if (draft.form === 'once') {
    const [begins, ends] = [Date.parse(draft.begins), Date.parse(draft.ends)]
    return ends > begins ? { static_time_range: { from: begins, to: ends } } : undefined
  }
  const [from_minute_of_day, to_minute_of_day] = [minuteOf(draft.fromMinute), minuteOf(draft.toMinute)]
  if (from_minute_of_day === undefined || to_minute_of_day === undefined) return undefined
  return { dynamic_time_range: { from_minute_of_day, to_minute_of_day, invert: draft.isInverted, repeat_days: [...draft.days] } }
}

type DowntimeEditorProps = { downtime: Downtime | undefined; title: string; isCopy: boolean }

/** DowntimeEditor creates, copies or edits a downtime, beside its next occurrences. */
export function DowntimeEditor({ downtime, title, isCopy }: DowntimeEditorProps) {
  const [draft, setDraft] = useState(() => draftOf(downtime))
  const set = (change: Partial<Draft>) => setDraft((now) => ({ ...now, ...change }))
  const body = bodyOf(draft)
  const save = useSaveDowntime(isCopy ? undefined : downtime?.id)
  return (
    <EditorPage
      title={title}
      action={downtime && !isCopy ? 'Save' : 'Create downtime'}
      needs="monitors_write"
      missing={body ? undefined : missing(draft)}
      isSending={save.isPending}
      failure={save.error}
      back={<BackToDowntimes />}
      cancel={
        <Link to="/downtimes" search={{}}>
          Cancel
        </Link>
      }
      onSend={() => body && save.mutate(body)}
      preview={<Next draft={draft} />}
    >
      <Panel title="General">
        <div className="flex flex-col gap-3 p-3">
          <Field name="Name">
            <Input value={draft.name} required maxLength={255} onChange={(event) => set({ name: event.target.value })} />
          </Field>
          <Field name="Reason">
            <TextArea value={draft.description} required maxLength={4_000} onChange={(event) => set({ description: event.target.value })} />
          </Field>
          <Field name="Suppressed notifications">
            <Select
              value={draft.strategy}
              options={[
                ['DELAY', 'send at the end if the status is unchanged'],
                ['DROP', 'drop'],
              ]}
              onPick={(strategy) => set({ strategy })}
            />
          </Field>
          <label className="flex items-center gap-2">
            <input type="checkbox" checked={draft.isRecoveryQuiet} onChange={(event) => set({ isRecoveryQuiet: event.target.checked })} />
            Suppress recovery notifications too
          </label>
        </div>
      </Panel>
      <When draft={draft} onChange={set} />
      <Scope from={draft.from} onFrom={(from) => set({ from })} />
    </EditorPage>
  )
}

function missing({ name, description, from }: Draft): string {
  if (name.trim() === '') return 'a name'
  if (description.trim() === '') return 'a reason'
  return from.length === 0 ? 'a monitor or dataset' : 'an end after the start'
}

const NEXT_MAX = 6

/** Lists the next occurrences in the zone of the user. */
function Next({ draft }: { draft: Draft }) {
  const [zone] = useZone()
  const times = timesOf(draft)
  const next = times ? upcoming(times, Date.now(), NEXT_MAX) : []
  return (
    <Panel title={`Next occurrences, in ${zone === 'utc' ? 'UTC' : 'your time zone'}`}>
      <div className="p-3">
        {next.length === 0 && <p className="text-soft">{times ? 'No future occurrences.' : 'Enter a start and an end.'}</p>}
        <ol className="tabular-nums">
          {next.map((one) => (
            <li key={one.fromMs}>{spanText(one, zone)}</li>
          ))}
        </ol>
      </div>
    </Panel>
  )
}

function useSaveDowntime(id: string | undefined) {
  const client = useClient()
  const navigate = useNavigate()
  const send = (body: NonNullable<ReturnType<typeof bodyOf>>) =>
    id === undefined ? client.downtimes.create({ body }) : client.downtimes.update({ params: { downtimeId: id }, body })
  return useSave(send, { stale: [['downtimes']], onSaved: () => navigate({ to: '/downtimes', search: {} }) })
}

const forms = [
  ['once', 'Once'],
  ['weekly', 'Recurring'],
] as const

type WhenProps = { draft: Draft; onChange(change: Partial<Draft>): void }

function When({ draft, onChange }: WhenProps) {
  const { form, begins, ends, fromMinute, toMinute, isInverted, days } = draft
  return (
    <Panel
      title="When"
      actions={<Choices label="Recurrence" size="small" options={forms} value={form} onPick={(one) => onChange({ form: one })} />}
    >
      {form === 'once' ? (
        <div className="grid gap-3 p-3 sm:grid-cols-2">
          <Field name="From, in your time zone">
            <Input type="datetime-local" value={begins} required onChange={(event) => onChange({ begins: event.target.value })} />
          </Field>
          <Field name="To">
            <Input type="datetime-local" value={ends} required onChange={(event) => onChange({ ends: event.target.value })} />
          </Field>
        </div>
      ) : (
        <div className="grid gap-3 p-3 sm:grid-cols-2">
          <Field name="From" help={`In ${WALL_ZONE}`}>
            <Input pattern="\d\d:\d\d" value={fromMinute} required onChange={(event) => onChange({ fromMinute: event.target.value })} />
          </Field>
          <Field name="To" help="A time before the start is on the next day">
            <Input pattern="\d\d:\d\d" value={toMinute} required onChange={(event) => onChange({ toMinute: event.target.value })} />
          </Field>
          <fieldset className="col-span-full flex flex-wrap gap-x-4 gap-y-1">
            <legend className="text-soft text-xs">Days; every day if none is selected</legend>
            {weekdays.map((day) => (
              <label key={day} className="flex items-center gap-1">
                <input
                  type="checkbox"
                  checked={days.includes(day)}
                  onChange={() => onChange({ days: weekdays.filter((one) => days.includes(one) !== (one === day)) })}
                />
                {day}
              </label>
            ))}
          </fieldset>
          <label className="col-span-full flex items-center gap-2">
            <input type="checkbox" checked={isInverted} onChange={(event) => onChange({ isInverted: event.target.checked })} />
            Invert: suppress notifications except at these times
          </label>
        </div>
      )}
    </Panel>
  )
}
