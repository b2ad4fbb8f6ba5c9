import type { Permission, TemplateParameters } from '@dendro/api'
import { type ReactNode, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../records/confirm.tsx'
import { usePagedPanel } from '../records/paged-panel.tsx'
import { useSave } from '../records/save.ts'
import { FailureNote } from '../shell/failure.tsx'
import { Loading, Panel } from '../shell/page.tsx'
import { Permitted } from '../shell/permitted.tsx'
import type { TemplateContent } from './placeholders.ts'
import { TemplateEditor, type TemplateForm } from './template-editor.tsx'

type StoredTemplate = { id: string; name: string; description?: string | undefined; parameters: TemplateParameters }

type TemplateQuery = { limit: number; cursor?: string; search?: string }

/** A Library is the API of one kind of template; bodies are unchecked, the service validates them. */
export type TemplateApi = {
  list(query: TemplateQuery, signal: AbortSignal): Promise<{ templates: readonly StoredTemplate[]; next_cursor?: string | undefined }>
  create(body: unknown): Promise<unknown>
  update(id: string, body: unknown): Promise<unknown>
  remove(id: string): Promise<unknown>
}

type TemplateLibraryProps = {
  title: string
  rights: { write: Permission; delete: Permission }
  /** Names what a template creates. */
  noun: string
  queryKey: readonly string[]
  library: TemplateApi
  /** The content of a new template. */
  example: TemplateContent
  form: TemplateForm
  /** The template that is open at first. */
  first?: string | undefined
  use?(template: StoredTemplate): ReactNode
}

/** TemplateLibrary lists and edits templates. */
export function TemplateLibrary(props: TemplateLibraryProps) {
  const { title, rights, noun, queryKey, library, example, form, first, use } = props
  const [edited, setEdited] = useState(first)
  const { list, search, below, isSearched } = usePagedPanel<StoredTemplate>({
    noun: `${noun} template`,
    queryKey,
    read: async (query, signal) => {
      const { templates, ...rest } = await library.list(query, signal)
      return { records: templates, ...rest }
    },
  })
  const editor = (id: string, content: TemplateContent) => (
    <TemplateEditor
      label={id === 'new' ? `New ${noun} template` : `Edit the ${noun} template`}
      stale={queryKey}
      form={form}
      first={content}
      onSave={(edited) => (id === 'new' ? library.create(edited) : library.update(id, edited))}
      onDone={() => setEdited(undefined)}
    />
  )
  return (
    <Panel
      title={title}
      actions={
        edited === undefined && (
          <>
            {search}
            <Permitted to={rights.write}>
              <Button size="small" aria-label={`New ${noun} template`} onClick={() => setEdited('new')}>
                New
              </Button>
            </Permitted>
          </>
        )
      }
    >
      {list.error ? <FailureNote thrown={list.error} again={() => list.refetch()} /> : null}
      {!list.data && !list.error && <Loading />}
      {edited === 'new' && editor('new', example)}
      {list.data?.length === 0 && edited !== 'new' && (
        <p className="p-3 text-soft">{isSearched ? `No ${noun} template matches.` : `No ${noun} templates yet. Create one with “New”.`}</p>
      )}
      {list.data && list.data.length > 0 && (
        <ul aria-label={title} className="divide-y divide-line">
          {list.data.map((one) => (
            <li key={one.id}>
              {edited === one.id ? (
                editor(one.id, contentOf(one))
              ) : (
                <Row template={one} rights={rights} library={library} queryKey={queryKey} onEdit={() => setEdited(one.id)}>
                  <Permitted to={rights.write}>{use?.(one)}</Permitted>
                </Row>
              )}
            </li>
          ))}
        </ul>
      )}
      {below}
    </Panel>
  )
}

/** A template without its id and metadata. */
function contentOf(template: StoredTemplate): TemplateContent {
  const { id: _id, metadata: _metadata, ...content } = template as StoredTemplate & { metadata?: unknown }
  return content
}

type RowProps = {
  template: StoredTemplate
  rights: TemplateLibraryProps['rights']
  library: TemplateApi
  queryKey: readonly string[]
  onEdit(): void
  children: ReactNode
}

function Row({ template, rights, library, queryKey, onEdit, children }: RowProps) {
  const { id, name, description, parameters } = template
  const names = Object.keys(parameters)
  const remove = useSave(() => library.remove(id), { stale: [queryKey] })
  return (
    <div className="flex flex-wrap items-start gap-2 px-3 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <p className="break-words font-medium">{name}</p>
        {description && <p className="break-words text-soft text-xs">{description}</p>}
        <p className="text-soft text-xs">{names.length === 0 ? 'no parameters' : `parameters: ${names.join(', ')}`}</p>
      </div>
      {children}
      <Permitted to={rights.write}>
        <Button size="small" aria-label={`Edit the template ${name}`} onClick={onEdit}>
          Edit
        </Button>
      </Permitted>
      <Confirm
        action="Delete"
        size="small"
        needs={rights.delete}
        label={`Delete the template ${name}`}
        message={`Delete the template “${name}”? Records created from it stay.`}
        onYes={() => remove.mutateAsync()}
      />
    </div>
  )
}
