import { ApiFailure } from '@dendro/api/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, useContext } from 'react'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { FailureNote } from './failure.tsx'

type Refused = ReadonlyMap<string, string>
const RefusedContext = createContext<Refused>(new Map())

/** A TextOf returns the trimmed value of a form field. */
export type TextOf = (name: string) => string

type FormProps<Out> = {
  /** action is the label of the submit button. */
  action: string
  /** label names the form where a page has several. */
  label?: string
  /** reads is the query key to invalidate after success. */
  reads: readonly unknown[]
  onSend(text: TextOf): Promise<Out>
  onDone?: ((made: Out) => void) | undefined
  onLeave?: (() => void) | undefined
  /** conflict is the field that a 409 refers to. */
  conflict?: string
  isReady?: boolean
  /** shape is a line, which is reset after success, or a column, which keeps its values. */
  shape?: 'line' | 'column'
  done?: string
  className?: string
  children: ReactNode
}

const shapes = { line: 'flex flex-wrap items-start gap-2 p-3 max-sm:*:w-full', column: 'flex flex-col gap-3 p-3' }

/** Form submits its fields; field errors appear beside their fields, and the whole error with its request id once. */
export function Form<Out>(props: FormProps<Out>) {
  const { action, label, reads, onSend, onDone, onLeave, conflict, isReady = true, shape = 'line', done, className = '', children } = props
  const queries = useQueryClient()
  const sending = useMutation({ mutationFn: onSend, onSuccess: () => queries.invalidateQueries({ queryKey: reads }) })
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    event.stopPropagation()
    const form = event.currentTarget
    sending.mutate(textOf(form), {
      onSuccess: (made) => {
        if (shape === 'line') form.reset()
        onDone?.(made)
      },
    })
  }
  return (
    <RefusedContext value={refusedOf(sending.error, conflict)}>
      <form onSubmit={send} aria-label={label} className={`${shapes[shape]} ${className}`}>
        {children}
        {sending.error && <FailureNote thrown={sending.error} />}
        <div className={`flex flex-wrap items-center gap-2 ${shape === 'line' ? 'sm:pt-4.5' : ''}`}>
          <Button type="submit" look="main" disabled={!isReady || sending.isPending}>
            {sending.isPending ? 'Working…' : action}
          </Button>
          {onLeave && <Button onClick={onLeave}>Cancel</Button>}
          {done && sending.isSuccess && <span role="status">{done}</span>}
        </div>
      </form>
    </RefusedContext>
  )
}

/** textOf reads the current values of a form. */
function textOf(form: HTMLFormElement): TextOf {
  const data = new FormData(form)
  return (name) => String(data.get(name) ?? '').trim()
}

function refusedOf(thrown: unknown, conflict: string | undefined): Refused {
  if (!(thrown instanceof ApiFailure)) return new Map()
  if (thrown.status === 409 && conflict !== undefined && !thrown.errors?.length) return new Map([[conflict, thrown.details]])
  return new Map((thrown.errors ?? []).map(({ field, message }) => [field, message]))
}

/** Refusals shows field errors where there is no Form. */
export const Refusals = ({ thrown, children }: { thrown: unknown; children: ReactNode }) => (
  <RefusedContext value={refusedOf(thrown, undefined)}>{children}</RefusedContext>
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

/** FormField is a labeled field; `of` is its name in the API. */
export const FormField = ({ of, className = '', below, ...field }: FormFieldProps) => (
  <div className={`flex min-w-0 flex-col gap-0.5 ${className}`}>
    <Field {...field} />
    {below}
    <Refusal of={of} />
  </div>
)

/** Refusal shows the error of a field. */
export function Refusal({ of }: Pick<FormFieldProps, 'of'>) {
  const refused = useContext(RefusedContext)
  const names = typeof of === 'string' ? [of] : of
  const [message] = [...refused].flatMap(([name, text]) => (names.some((one) => belongs(name, one)) ? [text] : []))
  return message === undefined ? null : <p className="text-error text-xs">{message}</p>
}

/** belongs is true for an error of a member, as in `roles[0]`, and the field of the whole. */
const belongs = (member: string, of: string): boolean => member === of || member.startsWith(`${of}.`) || member.startsWith(`${of}[`)
