import { ApiFailure } from '@dendro/api/client'
import { createContext, type ReactNode, useContext } from 'react'
import { CopyButton } from '../shell/copy-button.tsx'
import { FailureNote } from '../shell/failure.tsx'
import { EmptyState, Loading, Page } from '../shell/page.tsx'

/** A ReadState is the state of a query. */
export type QueryState<T> = { data: T | undefined; error: unknown; refetch(): unknown }

/** Answer shows data, loading or error; loaded data stays when a refresh fails. */
export function Loaded<T>({ of, children }: { of: QueryState<T>; children(data: T): ReactNode }) {
  if (of.data !== undefined) return children(of.data)
  return of.error ? <FailureNote thrown={of.error} again={of.refetch} /> : <Loading />
}

type MissingRecordProps = {
  title: string
  /** Names the kind of record. */
  noun: string
  of: QueryState<unknown>
  /** Links to the list. */
  back: ReactNode
  /** Why the record may be gone, where it is not only deleted. */
  reason?: string
}

/** The page of a record that is loading, failed or deleted, with a link to the list. */
export function MissingRecord({ title, noun, of, back, reason }: MissingRecordProps) {
  const gone = (
    <EmptyState title={`This ${noun} no longer exists`}>
      {reason && <p className="text-soft">{reason}</p>}
      <span className="text-accent underline">{back}</span>
    </EmptyState>
  )
  const isGone = of.error instanceof ApiFailure && of.error.status === 404
  return (
    <Page title={title} back={back}>
      {isGone ? gone : <Loaded of={of}>{() => gone}</Loaded>}
    </Page>
  )
}

/** A list of records, on a wide window with two on a line. */
export const RecordList = ({ label, children }: { label: string; children: ReactNode }) => (
  <ul
    aria-label={label}
    className="grid grid-cols-1 gap-px overflow-hidden rounded-md border border-line bg-line *:min-w-0 *:bg-panel wide:grid-cols-2 wide:[&>:last-child:nth-child(odd)]:col-span-2"
  >
    {children}
  </ul>
)

/** RowsProps: `empty` says what would be here, and `howTo` how to make one, for those who may. */
type RowsProps = { label: string; columns: readonly string[]; empty: string; howTo?: ReactNode; children: readonly ReactNode[] }

const ColumnsContext = createContext<readonly string[]>([])

/** A table of records with actions in the last column; on narrow screens cells are stacked with their column names. */
export function Rows({ label, columns, empty, howTo, children }: RowsProps) {
  if (children.length === 0)
    return (
      <p className="px-3 py-6 text-center text-soft">
        {empty} {howTo}
      </p>
    )
  return (
    <RecordTable label={label} rowCount={children.length}>
      <table aria-label={label} className="w-full max-sm:block">
        <thead className="text-left text-soft text-xs max-sm:sr-only">
          <tr>
            {columns.map((name) => (
              <th key={name} className="whitespace-nowrap px-3 py-2 font-medium">
                {name}
              </th>
            ))}
            <th className="px-3 py-2">
              <span className="sr-only">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          <ColumnsContext value={columns}>{children}</ColumnsContext>
        </tbody>
      </table>
    </RecordTable>
  )
}

type RecordTableProps = { label: string; rowCount: number; className?: string; children: ReactNode }

/** The frame of a table, which lays a short one out in two columns where it has room for them. */
export const RecordTable = ({ label, rowCount, className = '', children }: RecordTableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled by keyboard too
  <section aria-label={`${label} table`} tabIndex={0} className={`@container relative overflow-x-auto ${className}`}>
    <div className={hasColumns(rowCount) ? 'record-columns' : ''}>{children}</div>
  </section>
)

/** A table in two columns has enough rows for both, and not more than fit a window. */
const hasColumns = (rowCount: number): boolean => rowCount >= COLUMN_ROWS_LEAST && rowCount <= COLUMN_ROWS_MAX
const COLUMN_ROWS_LEAST = 8
const COLUMN_ROWS_MAX = 60

type RowProps = {
  cells: readonly ReactNode[]
  /** below is shown under the record over the whole width: a form, or an error. */
  below?: ReactNode
  children?: ReactNode
}

/** One record with its actions and an optional open form. */
export function Row({ cells, below, children }: RowProps) {
  const columns = useContext(ColumnsContext)
  return (
    <>
      <tr className="border-line border-t align-top max-sm:block max-sm:py-1.5 max-sm:first:border-t-0">
        {cells.map((cell, at) => (
          <td
            // biome-ignore lint/suspicious/noArrayIndexKey: cells are in column order
            key={at}
            data-column={columns[at]}
            className={`break-words px-3 py-1.5 max-sm:py-0.5 ${at === 0 ? 'max-sm:block' : narrowCell}`}
          >
            <div className="min-w-0">{cell}</div>
          </td>
        ))}
        <td className="px-3 py-1 max-sm:block max-sm:has-[>span:empty]:hidden">
          <span className="flex @4xl:flex-nowrap flex-wrap justify-end gap-1 max-sm:justify-start">{children}</span>
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

/** Shows the column name beside a cell on narrow screens and hides empty cells. */
const narrowCell =
  'max-sm:grid max-sm:grid-cols-[6.5rem_minmax(0,1fr)] max-sm:items-baseline max-sm:gap-x-2 max-sm:before:text-soft max-sm:before:text-xs max-sm:before:content-[attr(data-column)] max-sm:has-[>div:empty]:hidden'

/** Shows a secret that cannot be shown again. */
export function ShownOnce({ title, text }: { title: string; text: string }) {
  return (
    <div role="status" className="rounded-md border border-accent bg-tint p-3">
      <p className="mb-1 font-medium">{title}</p>
      <p className="flex flex-wrap items-center gap-2">
        <code className="wrap-anywhere whitespace-pre-line rounded bg-panel px-2 py-1 font-mono text-xs">{text}</code>
        <CopyButton size="small" text={text}>
          Copy
        </CopyButton>
      </p>
      <p className="mt-1 text-soft text-xs">Copy it now: it cannot be shown again.</p>
    </div>
  )
}
