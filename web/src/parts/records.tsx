import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext } from 'react'
import { Button } from '../ui/button.tsx'
import { Confirm } from './confirm.tsx'
import { copyText } from './copy.ts'
import { FailureNote } from './failure.tsx'
import { Nothing, Page, Waiting } from './page.tsx'

/** A Read is what is asked of the service, as far as it is answered. */
export type Read<T> = { data: T | undefined; error: unknown; refetch(): unknown }

/** Answer shows what was read, or that it is being read, or why it cannot be; what was there before stays when a later look fails. */
export function Answer<T>({ of, children }: { of: Read<T>; children(data: T): ReactNode }) {
  if (of.data !== undefined) return children(of.data)
  return of.error ? <FailureNote thrown={of.error} again={of.refetch} /> : <Waiting>Reading …</Waiting>
}

type AbsentProps = {
  title: string
  /** noun is what it is a page of. */
  noun: string
  of: Read<unknown>
  /** back leads to the list of all of them. */
  back: ReactNode
}

/** Absent is the page of one record that cannot be shown: it is being read, could not be, or is gone. It leads back to the list. */
export const Absent = ({ title, noun, of, back }: AbsentProps) => (
  <Page title={title} actions={back}>
    <Answer of={of}>{() => <Nothing title={`This ${noun} is gone`}>{back}</Nothing>}</Answer>
  </Page>
)

type RowsProps = { label: string; heads: readonly string[]; empty: string; children: readonly ReactNode[] }

const HeadsContext = createContext<readonly string[]>([])

/** Rows is a table of records; its last column is what can be done with each. On a narrow screen the cells of a record stand below one another, each beside its name. */
export function Rows({ label, heads, empty, children }: RowsProps) {
  if (children.length === 0) return <p className="px-3 py-6 text-center text-soft">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard too
    <section aria-label={`${label} table`} tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full max-sm:block">
        <thead className="text-left text-soft text-xs max-sm:sr-only">
          <tr>
            {heads.map((name) => (
              <th key={name} className="whitespace-nowrap px-3 py-2 font-medium">
                {name}
              </th>
            ))}
            <th className="px-3 py-2">
              <span className="sr-only">What can be done</span>
            </th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          <HeadsContext value={heads}>{children}</HeadsContext>
        </tbody>
      </table>
    </section>
  )
}

type RowProps = {
  cells: readonly ReactNode[]
  /** below is what stands under the record over the whole width: a form, or what failed. */
  below?: ReactNode
  children?: ReactNode
}

/** Row is one record: its cells, what can be done with it, and what was opened below it. */
export function Row({ cells, below, children }: RowProps) {
  const heads = useContext(HeadsContext)
  return (
    <>
      <tr className="border-line border-t align-top max-sm:block max-sm:py-1.5">
        {cells.map((cell, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its column
          <td key={at} data-head={heads[at]} className={`break-words px-3 py-1.5 max-sm:py-0.5 ${at === 0 ? 'max-sm:block' : beside}`}>
            <div className="min-w-0">{cell}</div>
          </td>
        ))}
        <td className="px-3 py-1 max-sm:block max-sm:has-[>span:empty]:hidden">
          <span className="flex flex-wrap justify-end gap-1 max-sm:justify-start">{children}</span>
        </td>
      </tr>
      {below ? (
        <tr className="max-sm:block">
          <td colSpan={cells.length + 1} className="bg-sunk max-sm:block">
            {below}
          </td>
        </tr>
      ) : null}
    </>
  )
}

/** beside puts the name of its column beside a cell of a narrow screen; what is empty is left out there. */
const beside =
  'max-sm:grid max-sm:grid-cols-[6.5rem_minmax(0,1fr)] max-sm:items-baseline max-sm:gap-x-2 max-sm:before:text-soft max-sm:before:text-xs max-sm:before:content-[attr(data-head)] max-sm:has-[>div:empty]:hidden'

type ChangeAndDeleteProps = {
  isEdited: boolean
  label?: string
  question: string
  onEdit(isEdited: boolean): void
  onDelete(): Promise<unknown>
}

/** ChangeAndDelete are what can be done with a record whose form opens below it. */
export const ChangeAndDelete = ({ isEdited, label, question, onEdit, onDelete }: ChangeAndDeleteProps) => (
  <>
    <Button size="small" aria-expanded={isEdited} onClick={() => onEdit(!isEdited)}>
      Change
    </Button>
    <Confirm size="small" action="Delete" {...(label === undefined ? {} : { label })} question={question} onYes={onDelete} />
  </>
)

/** useAct changes something and reads again what it is part of. */
export function useAct<In, Out>(key: readonly unknown[], run: (given: In) => Promise<Out>) {
  const queries = useQueryClient()
  return useMutation({ mutationFn: run, onSuccess: () => queries.invalidateQueries({ queryKey: key }) })
}

/** ShownOnce is a secret or a link that will not be shown again. */
export function ShownOnce({ what, text }: { what: string; text: string }) {
  return (
    <div role="status" className="rounded-md border border-accent bg-tint p-3">
      <p className="mb-1 font-medium">{what}</p>
      <p className="flex flex-wrap items-center gap-2">
        <code className="break-all rounded bg-panel px-2 py-1 font-mono text-xs">{text}</code>
        <Button size="small" onClick={() => copyText(text)}>
          Copy
        </Button>
      </p>
      <p className="mt-1 text-soft text-xs">It is not kept anywhere and will not be shown again.</p>
    </div>
  )
}
