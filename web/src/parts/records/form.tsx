import type { Permission } from '@dendro/api'
import { ApiFailure } from '@dendro/api/client'
import { createContext, type FormEvent, type ReactNode, useContext, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { useLacks, useMay } from '../shell/permitted.tsx'
import { useSave } from './save.ts'

type FieldErrors = ReadonlyMap<string, string>
const FieldErrorsContext = createContext<FieldErrors>(new Map())

/** A TextOf returns the trimmed value of a form field. */
export type TextOf = (name: string) => string

type FormProps<Out> = {
  /** The label of the submit button. */
  action: string
  /** Names the form where a page has several. */
  label?: string
  /** The query key to reload after success. */
  stale: readonly unknown[]
  onSend(text: TextOf): Promise<Out>
  onSaved?: ((saved: Out) => void) | undefined
  onCancel?: (() => void) | undefined
  /** The field that a 409 refers to. */
  conflict?: string
  isReady?: boolean
  /** The permission without which the form only shows its values. */
  needs?: Permission
  /**
   * isDirty is given by forms of an existing record: true when a control that the form does not read itself has changed. The record can be saved
   * once it or a field of the form has changed.
   */
  isDirty?: boolean | undefined
  /** A line, which is reset after success, or a column, which keeps its values. */
  layout?: 'line' | 'column'
  done?: string
  className?: string
  children: ReactNode
}

const layouts = {
  line: 'flex flex-wrap items-start gap-2 p-3 max-sm:*:w-full',
  column: 'flex flex-col gap-3 p-3',
}

/** Saves its fields; field errors appear beside their fields, and the whole error with its request id once. */
export function Form<Out>(props: FormProps<Out>) {
  const {
    action,
    label,
    stale,
    onSend,
    onSaved,
    onCancel,
    conflict,
    isReady = true,
    needs,
    isDirty,
    layout = 'line',
    done,
    className = '',
    children,
  } = props
  const [isTyped, setTyped] = useState(false)
  // Also runs when what was reloaded has taken this form away, unlike what is given with each request.
  const save = useSave(onSend, { stale: [stale], onSaved })
  const lacks = useLacks()
  const may = useMay()
  const isReadOnly = needs !== undefined && lacks(needs)
  const isUnchanged = isDirty === false && !isTyped
  const failure = save.error && (
    <div className="w-full *:m-0">
      <FailureNote thrown={save.error} />
    </div>
  )
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    event.stopPropagation()
    const form = event.currentTarget
    save.mutate(textOf(form), {
      onSuccess: () => {
        if (layout === 'line') form.reset()
        setTyped(false)
      },
    })
  }
  return (
    <FieldErrorsContext value={fieldErrorsOf(save.error, conflict)}>
      <form
        onSubmit={send}
        onChange={(event) => setTyped(isChanged(event.currentTarget))}
        aria-label={label ?? action}
        className={`${layouts[layout]} ${className}`}
      >
        {isReadOnly ? (
          <fieldset disabled className="contents">
            {children}
          </fieldset>
        ) : (
          children
        )}
        {layout === 'column' && failure}
        <div className={`flex flex-wrap items-center gap-2 empty:hidden ${layout === 'line' ? 'sm:pt-4.5' : ''}`}>
          {(needs === undefined || may(needs)) && (
            <Button type="submit" variant="main" disabled={!isReady || isUnchanged || save.isPending}>
              {save.isPending ? 'Working…' : action}
            </Button>
          )}
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
          {done && save.isSuccess && <span role="status">{done}</span>}
        </div>
        {layout === 'line' && failure}
      </form>
    </FieldErrorsContext>
  )
}

/** Compares the text fields of a form with their first values. */
const isChanged = ({ elements }: HTMLFormElement): boolean =>
  [...elements].some(
    (field) => (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) && field.value !== field.defaultValue,
  )

/** Reads the current values of a form. */
function textOf(form: HTMLFormElement): TextOf {
  const data = new FormData(form)
  return (name) => String(data.get(name) ?? '').trim()
}

function fieldErrorsOf(thrown: unknown, conflict: string | undefined): FieldErrors {
  if (!(thrown instanceof ApiFailure)) return new Map()
  if (thrown.status === 409 && conflict !== undefined && !thrown.errors?.length) return new Map([[conflict, thrown.details]])
  return new Map((thrown.errors ?? []).map(({ field, message }) => [field, message]))
}

/** Shows field errors where there is no Form. */
export const FieldErrorsOf = ({ thrown, children }: { thrown: unknown; children: ReactNode }) => (
  <FieldErrorsContext value={fieldErrorsOf(thrown, undefined)}>{children}</FieldErrorsContext>
)

type FormFieldProps = {
  name: string
  help?: ReactNode
  className?: string
  of: string | readonly string[]
  /** below is shown under the control, outside its label. */
  below?: ReactNode
  children: ReactNode
}

/** A labeled field; `of` is its name in the API. */
export const FormField = ({ of, className = '', below, ...field }: FormFieldProps) => (
  <div className={`flex min-w-0 flex-col gap-0.5 ${className}`}>
    <Field {...field} />
    {below}
    <FieldError of={of} />
  </div>
)

/** Shows the error of a field. */
export function FieldError({ of }: Pick<FormFieldProps, 'of'>) {
  const errors = useContext(FieldErrorsContext)
  const names = typeof of === 'string' ? [of] : of
  const [message] = [...errors].flatMap(([name, text]) => (names.some((one) => belongs(name, one)) ? [text] : []))
  return message === undefined ? null : <p className="text-error text-xs">{message}</p>
}

/** True for an error of a member, as in `roles[0]`, and the field of the whole. */
const belongs = (member: string, of: string): boolean => member === of || member.startsWith(`${of}.`) || member.startsWith(`${of}[`)
