import { count } from '../../parts/chart/numbers.ts'

export const cell = 'px-3 py-1.5 max-sm:py-0.5'
/** On a narrow page two numbers stand side by side, below the names, */
export const statRow =
  'border-line border-t align-baseline hover:bg-tint max-sm:grid max-sm:grid-cols-2 max-sm:py-1.5 max-sm:first:border-t-0'
export const nameCell = 'wrap-anywhere max-sm:col-span-2'
/** each with the name of its column before it. */
export const narrowCell =
  'max-sm:grid max-sm:grid-cols-[5rem_minmax(0,1fr)] max-sm:items-baseline max-sm:before:text-soft max-sm:before:text-xs max-sm:before:content-[attr(data-column)]'

const NAMES = 2

/** The head of a table of services: two columns of names, then numbers. */
export const StatHead = ({ columns }: { columns: readonly string[] }) => (
  <thead className="text-left text-soft text-xs max-sm:sr-only">
    <tr>
      {columns.map((name, at) => (
        <th key={name} className={`whitespace-nowrap px-3 py-2 font-medium ${at >= NAMES ? 'text-right' : ''}`}>
          {name}
        </th>
      ))}
    </tr>
  </thead>
)

export const rateText = (perSecond: number): string => (perSecond < 0.01 ? '< 0.01' : count(Number(perSecond.toPrecision(3))))
