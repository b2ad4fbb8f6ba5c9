import type { Permission } from '@dendro/api'
import type { ReactNode } from 'react'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useMay } from './permitted.tsx'

type PageProps = {
  title: string
  /** Links to the page above this one. */
  back?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

/** The one width of all pages: that of the window, up to the width of a very wide one. */
export const pageContent = 'flex max-w-charts flex-col gap-4 p-4 [&>[role=alert]]:m-0'

/** Puts panels side by side in a wide window; a last one without a neighbor, and what is no panel, have the whole width. */
export const panelColumns =
  'flex flex-col gap-4 wide:grid wide:grid-cols-2 wide:items-start wide:[&>:not(section)]:col-span-2 wide:[&>section:last-of-type:nth-of-type(odd)]:col-span-2'

/** Page has a title, actions and content; actions that do not fit beside the title begin a line of their own. */
export function Page({ title, back, actions, children }: PageProps) {
  return (
    <div className="h-full overflow-auto">
      <div className={pageContent}>
        <div className="flex min-h-8 flex-wrap items-center gap-2">
          <div className="mr-auto flex min-w-0 flex-wrap items-baseline gap-x-2">
            {back && (
              <span className="flex items-center gap-2 text-soft *:[a]:hover:text-ink *:[a]:hover:underline">
                {back}
                <span aria-hidden>/</span>
              </span>
            )}
            <h1 className="min-w-0 break-words font-semibold text-lg">{title}</h1>
          </div>
          {actions && <div className="flex max-w-full flex-wrap items-center gap-2 whitespace-nowrap">{actions}</div>}
        </div>
        {children}
      </div>
    </div>
  )
}

/** Loading reserves the height of the content, so that nothing shifts when it arrives. */
export const Loading = ({ height = '8rem' }: { height?: string }) => (
  <div data-loading className="overflow-hidden rounded-md border border-line bg-panel px-3" style={{ minHeight: height }}>
    <Skeleton />
  </div>
)

/** A sentence in the place of content that is not there, of the same height. */
export const Placeholder = ({ children, height }: { children: ReactNode; height: string }) => (
  <p
    role="status"
    className="grid place-items-center rounded-md border border-line border-dashed p-3 text-soft"
    style={{ minHeight: height }}
  >
    {children}
  </p>
)

/** Explains an empty page and how to fill it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-md border border-line border-dashed p-10 text-center">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </div>
  )
}

type PanelProps = {
  title: string
  actions?: ReactNode
  /** The permission without which the panel is not shown. */
  needs?: Permission
  children: ReactNode
}

/** A titled section; its frame also encloses loading and error states. */
export function Panel({ title, actions, needs, children }: PanelProps) {
  const may = useMay()
  if (needs && !may(needs)) return null
  return (
    <section
      aria-label={title}
      className="min-w-0 rounded-md border border-line bg-panel [&>[role=alert]]:m-0 [&>[role=alert]]:border-0 [&>[data-loading]]:border-0 [&>p[role=status]]:border-0"
    >
      <div className="flex min-h-10 flex-wrap items-center gap-x-2 gap-y-1 border-line border-b px-3 py-1 max-sm:py-2">
        <h2 className="mr-auto font-medium">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  )
}
