import type { Notebook, NotebookChange, NotebookStep } from '@dendro/api'
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { paramsOfSearch } from '../../parts/query/search-details.ts'
import { ConfirmPanel } from '../../parts/records/confirm.tsx'
import { LinkedText } from '../../parts/records/linked-text.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { CopyButton, SaveButton } from '../../parts/shell/copy-button.tsx'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Page } from '../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../parts/shell/permitted.tsx'
import { useZone } from '../../parts/time/zone.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { notebookMarkdown } from './markdown.ts'
import { RenameForm } from './name-form.tsx'
import { NOTEBOOKS, notebookKey, useNotebook, useReadResults } from './queries.ts'
import { StepCard, StepForm } from './step-card.tsx'

const back = (
  <Link to="/notebooks" search={{}}>
    All notebooks
  </Link>
)

/** One investigation: its steps in order, edited in place, and its export. */
export function NotebookPage({ id }: { id: string }) {
  const of = useNotebook(id)
  if (of.data === undefined) return <MissingRecord title="Notebook" noun="notebook" of={of} back={back} />
  return <ShownNotebook notebook={of.data} />
}

function ShownNotebook({ notebook }: { notebook: Notebook }) {
  const { id, name, description, steps, version } = notebook
  const client = useClient()
  const may = useMay()
  const navigate = useNavigate()
  const [zone] = useZone()
  const [isAdding, setAdding] = useState(false)
  const stale = { stale: [notebookKey(id), NOTEBOOKS] }
  const save = useSave((body: NotebookChange) => client.notebooks.update({ params: { notebookId: id }, body: { ...body, version } }), stale)
  const remove = useSave(() => client.notebooks.remove({ params: { notebookId: id } }), {
    stale: [NOTEBOOKS],
    onSaved: () => navigate({ to: '/notebooks', search: {} }),
  })
  const renaming: MenuAction = {
    name: 'Rename',
    note: 'Change name and description',
    icon: Pencil,
    panel: (close) => <RenameForm {...{ name }} description={description ?? ''} onSave={(next) => save.mutateAsync(next)} onEnd={close} />,
  }
  const deletion: MenuAction = {
    name: 'Delete',
    icon: Trash2,
    isDestructive: true,
    panel: (close) => (
      <ConfirmPanel
        action="Delete"
        message={`Delete the notebook “${name}”? Its words are lost.`}
        onYes={() => remove.mutateAsync()}
        onEnd={close}
      />
    ),
  }
  const saveSteps = (next: readonly NotebookStep[]) => save.mutateAsync({ steps: [...next] })
  return (
    <Page
      title={name}
      back={back}
      actions={
        <>
          <ExportButtons notebook={notebook} />
          <ActionMenu actions={[...(may('saved_searches_write') ? [renaming] : []), ...(may('saved_searches_delete') ? [deletion] : [])]} />
        </>
      }
    >
      {description && (
        <p className="wrap-anywhere max-w-prose whitespace-pre-wrap text-soft">
          <LinkedText text={description} />
        </p>
      )}
      {save.error && <FailureNote thrown={save.error} note="Another person may have changed the notebook: reload it, then try again." />}
      {steps.length === 0 && !isAdding && (
        <EmptyState title="No steps yet">
          <p className="text-soft">
            A step is a query with its time and your words. Run a query in Explore, then Actions, Add to notebook.
          </p>
          <Link to="/explore" search={{}} className={buttonClass({ variant: 'main' })}>
            Open Explore
          </Link>
        </EmptyState>
      )}
      <ol aria-label="Steps" className="flex flex-col gap-4 empty:hidden">
        {steps.map((step, at) => (
          <StepCard
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no identity but its place in a version
            key={`${version} ${at}`}
            {...{ step, zone }}
            number={at + 1}
            count={steps.length}
            onChange={(next) => saveSteps(steps.with(at, next))}
            onMove={(by) => void saveSteps(swapped(steps, at, at + by)).catch(() => undefined)}
            onRemove={() => saveSteps(steps.toSpliced(at, 1))}
          />
        ))}
      </ol>
      <Permitted to="saved_searches_write">
        {isAdding ? (
          <section aria-label="New note" className="rounded-md border border-line bg-panel p-3">
            <StepForm
              step={{}}
              onCancel={() => setAdding(false)}
              onSave={async (step) => {
                await saveSteps([...steps, step])
                setAdding(false)
              }}
            />
          </section>
        ) : (
          <p>
            <Button onClick={() => setAdding(true)}>Add a note</Button>
          </p>
        )}
      </Permitted>
    </Page>
  )
}

function swapped(steps: readonly NotebookStep[], from: number, to: number): NotebookStep[] {
  const [one, other] = [steps[from], steps[to]]
  return one && other ? steps.with(from, other).with(to, one) : [...steps]
}

/** Copies or downloads the investigation. Its queries are read as whoever exports it. */
function ExportButtons({ notebook }: { notebook: Notebook }) {
  const router = useRouter()
  const readResults = useReadResults()
  const write = async () => {
    const results = await readResults(notebook.steps)
    return notebookMarkdown(notebook, results, ({ search_details: details }) =>
      details ? location.origin + router.buildLocation({ to: '/explore', search: paramsOfSearch(details) }).href : undefined,
    )
  }
  return (
    <>
      <CopyButton text={write} content={`${notebook.id} ${notebook.version}`}>
        Copy as Markdown
      </CopyButton>
      <SaveButton file={`${fileName(notebook.name)}.md`} type="text/markdown" text={write}>
        Download
      </SaveButton>
    </>
  )
}

const fileName = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]+/gu, '-').slice(0, 60) || 'notebook'
