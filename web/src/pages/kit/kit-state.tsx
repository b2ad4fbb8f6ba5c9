import type { ReactNode } from 'react'

/** A titled part of the page. */
export function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="border-line border-b pb-1 font-semibold">{title}</h2>
      <div className="flex flex-wrap items-start gap-x-4 gap-y-3">{children}</div>
    </section>
  )
}

type StateProps = { name: string; caption?: string; isWide?: boolean; children: ReactNode }

/** One state of a component; tests find it by its name. */
export function State({ name, caption = name, isWide = false, children }: StateProps) {
  return (
    <div className={`flex flex-col gap-1 ${isWide ? 'w-full max-w-2xl' : ''}`}>
      <div data-kit={name}>{children}</div>
      <span className="text-soft text-xs">{caption}</span>
    </div>
  )
}
