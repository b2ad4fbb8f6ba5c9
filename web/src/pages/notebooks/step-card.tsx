import type { NotebookStep, SearchDetails } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { ArrowDown, ArrowUp, Pencil } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { quantity } from '../../parts/chart/numbers.ts'
import { QueryText } from '../../parts/datasets/pattern-texts.tsx'
import { paramsOfSearch } from '../../parts/query/search-details.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { rangeOf } from '../../parts/time/range-params.ts'
import { clockOf, DEFAULT_RANGE, nameOf, type Zone } from '../../parts/time/time-range.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { isDayKnown } from './known-day.ts'
import { useStepResult } from './queries.ts'
import { Words } from './words.tsx'

type StepCardProps = {
  step: NotebookStep
  number: number
  count: number
  zone: Zone
  onChange(step: NotebookStep): Promise<unknown>
  onMove(by: -1 | 1): void
  onRemove(): Promise<unknown>
}

/** A step of an investigation: its words, its query, and what the query finds now. */
export function StepCard({ step, number, count, zone, onChange, onMove, onRemove }: StepCardProps) {
  const [isEditing, setEditing] = useState(false)
  const { title, words, search_details: details } = step
  const name = title || (details ? 'Query' : 'Note')
  return (
    <li aria-label={`Step ${number}`} className="min-w-0 rounded-md border border-line bg-panel">
      <div className="flex min-h-10 flex-wrap items-center gap-1 border-line border-b px-3 py-1 max-sm:py-2">
        <h2 className="mr-auto min-w-0 wrap-anywhere font-medium max-sm:basis-full">
          {number}. {name}
        </h2>
        {details && (
          <Link to="/explore" search={paramsOfSearch(details)} className={buttonClass({ size: 'small' })}>
            Open in Explore
          </Link>
        )}
        <Permitted to="saved_searches_write">
          <IconButton icon={Pencil} label={`Edit step ${number}`} onClick={() => setEditing(!isEditing)} />
          <IconButton icon={ArrowUp} label={`Move step ${number} up`} disabled={number === 1} onClick={() => onMove(-1)} />
          <IconButton icon={ArrowDown} label={`Move step ${number} down`} disabled={number === count} onClick={() => onMove(1)} />
          <Confirm action="Remove" size="small" label={`Remove step ${number}`} message={`Remove the step “${name}”?`} onYes={onRemove} />
        </Permitted>
      </div>
      <div className="flex flex-col gap-2 p-3">
        {isEditing ? (
          <StepForm
            step={step}
            onSave={async (next) => {
              await onChange(next)
              setEditing(false)
            }}
            onCancel={() => setEditing(false)}
          />
        ) : (
          words && <Words text={words} />
        )}
        {details && <StepQuery details={details} zone={zone} />}
      </div>
    </li>
  )
}

function StepQuery({ details, zone }: { details: SearchDetails; zone: Zone }) {
  const { data, error, refetch } = useStepResult(details)
  const range = rangeOf(paramsOfSearch(details), DEFAULT_RANGE)
  const hasDay = data?.lines.some(({ ms }) => !isDayKnown(ms, nameOf(range, zone), zone, Date.now())) === true
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-3 text-xs">
        <code className="min-w-0 wrap-anywhere font-mono">
          <QueryText text={details.where || 'all events'} />
        </code>
        <span className="text-soft tabular-nums">
          {nameOf(range, zone)}
          {data && ` · ${data.isExact ? '' : 'at least '}${quantity(data.count, 'event')}`}
        </span>
      </p>
      {error ? (
        <FailureNote thrown={error} again={refetch} isSmall />
      ) : !data ? (
        <Skeleton className="h-16" />
      ) : data.lines.length === 0 ? (
        <p className="text-soft text-xs">No event is left here. Retention may have deleted them.</p>
      ) : (
        <ul aria-label="Newest events" className="overflow-hidden rounded bg-sunk p-2 font-mono text-xs">
          {data.lines.map(({ ms, text, message }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: lines never change order
            <li key={at} className="truncate" title={text.slice(0, LINE_CHARS)}>
              <span className="text-soft tabular-nums">
                {hasDay && `${clockOf(ms, zone).day} `}
                {clockOf(ms, zone).clock}
              </span>{' '}
              {(message?.trim() ? message : text).slice(0, LINE_CHARS)}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

const LINE_CHARS = 400

type StepFormProps = { step: NotebookStep; onSave(step: NotebookStep): Promise<unknown>; onCancel(): void }

/** Edits the title and the words of a step. */
export function StepForm({ step, onSave, onCancel }: StepFormProps) {
  const [failure, setFailure] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const { title: _t, words: _w, ...rest } = step
    const [title, words] = [String(form.get('title') ?? '').trim(), String(form.get('words') ?? '').trim()]
    setBusy(true)
    setFailure(undefined)
    onSave({ ...(title === '' ? {} : { title }), ...(words === '' ? {} : { words }), ...rest })
      .catch(setFailure)
      .finally(() => setBusy(false))
  }
  return (
    <form aria-label="Step" onSubmit={send} className="flex max-w-prose flex-col gap-2">
      <Field name="Title">
        <Input name="title" maxLength={255} defaultValue={step.title} />
      </Field>
      <Field name="Words (Markdown)">
        <TextArea name="words" rows={5} maxLength={10_000} required={step.search_details === undefined} defaultValue={step.words} />
      </Field>
      {failure !== undefined && <FailureNote thrown={failure} isSmall />}
      <p className="flex gap-2">
        <Button type="submit" variant="main" disabled={isBusy}>
          Save
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </p>
    </form>
  )
}
