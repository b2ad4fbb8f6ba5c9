import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Button } from '../ui/button.tsx'
import { Confirm } from './confirm.tsx'
import { copyText } from './copy.ts'
import { FailureNote } from './failure.tsx'
import { Waiting } from './page.tsx'

type Read<T> = { data: T | undefined; error: unknown; refetch(): unknown }

/** Answer shows what was read, or that it is being read, or why it cannot be; what was there before stays when a later look fails. */
export function Answer<T>({ of, children }: { of: Read<T>; children(data: T): ReactNode }) {
  if (of.data !== undefined) return children(of.data)
  return of.error ? <FailureNote thrown={of.error} again={of.refetch} /> : <Waiting>Reading …</Waiting>
}

type RowsProps = { label: string; heads: readonly string[]; empty: string; children: readonly ReactNode[] }

/** Rows is a table of records; its last column is what can be done with each. */
export function Rows({ label, heads, empty, children }: RowsProps) {
  if (children.length === 0) return <p className="px-3 py-6 text-center text-soft">{empty}</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard too
    <section aria-label={`${label} table`} tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full">
        <thead className="text-left text-soft text-xs">
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
        <tbody>{children}</tbody>
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
  return (
    <>
      <tr className="border-line border-t align-top">
        {cells.map((cell, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a cell is known by its column
          <td key={at} className="break-words px-3 py-1.5">
            {cell}
          </td>
        ))}
        <td className="px-3 py-1">
          <span className="flex flex-wrap justify-end gap-1">{children}</span>
        </td>
      </tr>
      {below ? (
        <tr>
          <td colSpan={cells.length + 1} className="bg-sunk">
            {below}
          </td>
        </tr>
      ) : null}
    </>
  )
}

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
