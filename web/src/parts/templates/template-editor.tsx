import { ApiFailure } from '@dendro/api/client'
import { type ComponentType, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Choices } from '../../ui/choices.tsx'
import { Field, TextArea } from '../../ui/field.tsx'
import { FieldErrorsOf } from '../records/form.tsx'
import { useSave } from '../records/save.ts'
import { FailureNote } from '../shell/failure.tsx'
import { type ContentShape, isMap, lineOf, type TemplateContent, unsupportedMember } from './placeholders.ts'
import type { TemplateFormProps } from './template-form-fields.tsx'

/** A TemplateForm is the form of a kind of template, with the shapes it supports. */
export type TemplateForm = { Fields: ComponentType<TemplateFormProps>; shapes: Readonly<Record<string, ContentShape>> }

type TemplateEditorProps = {
  /** The query key to reload after saving. */
  stale: readonly unknown[]
  label: string
  form: TemplateForm
  first: TemplateContent
  onSave(content: TemplateContent): Promise<unknown>
  onDone(): void
}

type View = { kind: 'form'; content: TemplateContent } | { kind: 'json'; text: string }

const ROWS = 18

const writings = [
  ['form', 'Form'],
  ['json', 'JSON'],
] as const

/** Edits a template as a form or as JSON; switching loses nothing. */
export function TemplateEditor({ label, form, first, stale, onSave, onDone }: TemplateEditorProps) {
  const [view, setView] = useState<View>(() => viewOf(first, form))
  const [fault, setFault] = useState<unknown>()
  const save = useSave(async () => onSave(contentIn(view)), { stale: [stale], onSaved: onDone })
  const switchTo = (kind: View['kind']) => {
    setFault(undefined)
    try {
      const content = contentIn(view)
      setView(kind === 'json' ? { kind, text: written(content) } : { kind, content: shown(content, form) })
    } catch (thrown) {
      setFault(thrown)
    }
  }
  const failure = fault ?? save.error
  return (
    <section aria-label={label} className="flex flex-col gap-3 p-3">
      <Choices
        label="Written as"
        size="small"
        options={writings}
        value={view.kind}
        onPick={(kind) => view.kind !== kind && switchTo(kind)}
      />
      {view.kind === 'form' ? (
        <FieldErrorsOf thrown={save.error}>
          <form.Fields content={view.content} onChange={(content) => setView({ kind: 'form', content })} />
        </FieldErrorsOf>
      ) : (
        <>
          <Field name="JSON; texts contain parameters as {{name}}">
            <TextArea
              className="font-mono text-xs"
              rows={ROWS}
              spellCheck={false}
              value={view.text}
              onChange={(event) => setView({ kind: 'json', text: event.target.value })}
            />
          </Field>
          <ErrorLines thrown={save.error} text={view.text} />
        </>
      )}
      {failure ? <FailureNote thrown={failure} /> : null}
      <div className="flex gap-2">
        <Button
          variant="main"
          disabled={save.isPending}
          onClick={() => {
            setFault(undefined)
            save.mutate()
          }}
        >
          {save.isPending ? 'Saving…' : 'Save template'}
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
    </section>
  )
}

const written = (content: TemplateContent): string => JSON.stringify(content, null, 2)

/** Opens the form, or JSON when the form cannot show the content. */
const viewOf = (first: TemplateContent, { shapes }: TemplateForm): View =>
  unsupportedMember(first, shapes) === undefined ? { kind: 'form', content: first } : { kind: 'json', text: written(first) }

function shown(content: TemplateContent, { shapes }: TemplateForm): TemplateContent {
  const strange = unsupportedMember(content, shapes)
  if (strange !== undefined) throw new Error(`The form cannot show “${strange}”. Edit it as JSON.`)
  return content
}

function contentIn(view: View): TemplateContent {
  if (view.kind === 'form') return view.content
  let read: unknown
  try {
    read = JSON.parse(view.text)
  } catch (thrown) {
    throw new Error(`Invalid JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown })
  }
  if (!isMap(read)) throw new Error('A template is a JSON object.')
  return read as TemplateContent
}

/** ErrorLines list errors with the line of the JSON. */
function ErrorLines({ thrown, text }: { thrown: unknown; text: string }) {
  const errors = thrown instanceof ApiFailure ? (thrown.errors ?? []) : []
  const found = errors.flatMap(({ field, message }) => {
    const line = lineOf(text, field)
    return line === undefined ? [] : [{ line, message }]
  })
  if (found.length === 0) return null
  return (
    <ul aria-label="Errors" className="text-error text-xs">
      {found.map(({ line, message }) => (
        <li key={`${line} ${message}`}>
          Line {line}: {message}
        </li>
      ))}
    </ul>
  )
}
