import { ApiFailure } from '@dendro/api/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createContext, type FormEvent, type ReactNode, useContext } from 'react'
import { Button } from '../ui/button.tsx'
import { Field } from '../ui/field.tsx'
import { FailureNote } from './failure.tsx'

type Refused = ReadonlyMap<string, string>
const RefusedContext = createContext<Refused>(new Map())

/** A TextOf gives what stands in a field, without the blanks around it. */
export type TextOf = (name: string) => string

type FormProps<Out> = {
  /** action is what its button says. */
  action: string
  /** label names the form where a page has several. */
  label?: string
  /** reads is the key of what is read anew once it was done. */
  reads: readonly unknown[]
  onSend(text: TextOf): Promise<Out>
  onDone?: ((made: Out) => void) | undefined
  onLeave?: (() => void) | undefined
  /** conflict names the field that speaks of what exists already. */
  conflict?: string
  isReady?: boolean
  /** shape is one line, which is emptied for the next one once it was sent, or a column, which keeps what it says. */
  shape?: 'line' | 'column'
  done?: string
  className?: string
  children: ReactNode
}

const shapes = { line: 'flex flex-wrap items-start gap-2 p-3 max-sm:*:w-full', column: 'flex flex-col gap-3 p-3' }

/** Form takes what its fields hold to the service; what is refused stands beside the field it speaks of, and once in full with the id of the request. */
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
            {sending.isPending ? 'At it …' : action}
          </Button>
          {onLeave && <Button onClick={onLeave}>Cancel</Button>}
          {done && sending.isSuccess && <span role="status">{done}</span>}
        </div>
      </form>
    </RefusedContext>
  )
}

/** textOf reads a form as it is now. */
function textOf(form: HTMLFormElement): TextOf {
  const data = new FormData(form)
  return (name) => String(data.get(name) ?? '').trim()
}

function refusedOf(thrown: unknown, conflict: string | undefined): Refused {
  if (!(thrown instanceof ApiFailure)) return new Map()
  if (thrown.status === 409 && conflict !== undefined && !thrown.errors?.length) return new Map([[conflict, thrown.details]])
  return new Map((thrown.errors ?? []).map(({ field, message }) => [field, message]))
}

/** Refusals stand beside the fields of what is written without a form of its own. */
export const Refusals = ({ thrown, children }: { thrown: unknown; children: ReactNode }) => (
  <RefusedContext value={refusedOf(thrown, undefined)}>{children}</RefusedContext>
)

type FormFieldProps = {
  name: string
  help?: ReactNode
  className?: string
  of: string | readonly string[]
  /** below stands under the control without being its name. */
  below?: ReactNode
  children: ReactNode
}

/** FormField is a field of a form under its name; `of` is what the service calls it. */
export const FormField = ({ of, className = '', below, ...field }: FormFieldProps) => (
  <div className={`flex min-w-0 flex-col gap-0.5 ${className}`}>
    <Field {...field} />
    {below}
    <Refusal of={of} />
  </div>
)

/** Refusal is what the service said about a field. */
export function Refusal({ of }: Pick<FormFieldProps, 'of'>) {
  const refused = useContext(RefusedContext)
  const names = typeof of === 'string' ? [of] : of
  const [message] = [...refused].flatMap(([name, text]) => (names.some((one) => belongs(name, one)) ? [text] : []))
  return message === undefined ? null : <p className="text-error text-xs">{message}</p>
}

/** belongs says whether what is wrong with a member, as in `roles[0]`, is said beside the field of the whole. */
const belongs = (member: string, of: string): boolean => member === of || member.startsWith(`${of}.`) || member.startsWith(`${of}[`)
