import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ago, quantity } from '../../parts/chart/numbers.ts'
import { NameFirst } from '../../parts/records/name-first.tsx'
import { useNotebookSearch } from '../../parts/records/notebook-list.ts'
import { SearchedList } from '../../parts/records/searched-list.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { NotebookPage } from './one-notebook.tsx'
import { NOTEBOOKS } from './queries.ts'

/** Lists the notebooks, or shows one. */
export function NotebooksPage() {
  const { id } = useSearch({ from: '/inside/notebooks' })
  return id === undefined ? <NotebookList /> : <NotebookPage key={id} id={id} />
}

function NotebookList() {
  const [find, setFind] = useState('')
  const list = useNotebookSearch(find)
  return (
    <Page
      title="Notebooks"
      actions={
        <Permitted to="saved_searches_write">
          <NewNotebook label="New notebook" />
        </Permitted>
      }
    >
      <SearchedList
        noun="notebook"
        of={list}
        find={find}
        onFind={setFind}
        none={
          <EmptyState title="No notebooks yet">
            <p className="text-soft">A notebook keeps an investigation: queries with their times, and what you found, in order.</p>
            <Permitted to="saved_searches_write">
              <NewNotebook label="Create the first notebook" />
            </Permitted>
          </EmptyState>
        }
      >
        {(found) => (
          <ul aria-label="Notebooks" className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3 wide:grid-cols-4">
            {found.map(({ id, name, description, step_count, metadata }) => (
              <li key={id} className="min-w-0 rounded-md border border-line bg-panel p-3">
                <Link to="/notebooks" search={{ id }} className="wrap-anywhere font-medium hover:underline">
                  {name}
                </Link>
                {description && <p className="wrap-anywhere line-clamp-3 text-soft text-xs">{description}</p>}
                <p className="text-soft text-xs">
                  {quantity(step_count, 'step')} · changed {ago(metadata.modified_at ?? metadata.created_at ?? 0, Date.now())}
                </p>
              </li>
            ))}
          </ul>
        )}
      </SearchedList>
    </Page>
  )
}

function NewNotebook({ label }: { label: string }) {
  const client = useClient()
  const navigate = useNavigate()
  return (
    <NameFirst
      label={label}
      create={(name) => client.notebooks.create({ body: { name } })}
      stale={[NOTEBOOKS]}
      onCreated={({ id }) => navigate({ to: '/notebooks', search: { id } })}
    />
  )
}
