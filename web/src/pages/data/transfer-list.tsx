import type { Permission } from '@dendro/api'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Loaded, Rows } from '../../parts/records/records.tsx'
import { BackToDatasets } from '../../parts/shell/back-links.tsx'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { buttonClass } from '../../ui/button.tsx'

type TransferListProps<Item> = {
  title: string
  /** The label of the table, where it is not the title. */
  label?: string
  /** What they are, in a sentence or two. */
  about: string
  of: UseQueryResult<readonly Item[]>
  /** The page of the list, which leads to the editor. */
  page: 'forwarding' | 'sources' | 'rehydrations'
  needs: Permission
  action: string
  empty: { title: string; about: string }
  columns: readonly string[]
  children(item: Item): ReactNode
}

/** What brings events in or out beside the senders, in a table; without any, what one is good for. */
export function TransferList<Item>({
  title,
  label = title,
  about,
  of,
  page,
  needs,
  action,
  empty,
  columns,
  children,
}: TransferListProps<Item>) {
  const create = (
    <Permitted to={needs}>
      <Link to="/data" search={{ [page]: true, edit: 'new' }} className={buttonClass({ variant: 'main' })}>
        {action}
      </Link>
    </Permitted>
  )
  return (
    <Page title={title} back={<BackToDatasets />} actions={(of.data?.length ?? 0) > 0 && create}>
      <p className="max-w-3xl text-soft">{about}</p>
      <Loaded of={of}>
        {(all) =>
          all.length === 0 ? (
            <EmptyState title={empty.title}>
              <p className="max-w-xl text-soft">{empty.about}</p>
              {create}
            </EmptyState>
          ) : (
            <div className="rounded-md border border-line bg-panel">
              <Rows label={label} columns={columns} empty="">
                {all.map(children)}
              </Rows>
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}
