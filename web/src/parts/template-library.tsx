import type { TemplateParameters } from '@dendro/api'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../ui/button.tsx'
import { Field, TextArea } from '../ui/field.tsx'
import { Confirm } from './confirm.tsx'
import { FailureNote } from './failure.tsx'
import { Panel, Waiting } from './page.tsx'

type KeptTemplate = { id: string; name: string; description?: string | undefined; parameters: TemplateParameters }

/** A Library is where the templates of one noun are kept; what is written of them is refused there where it makes no sense. */
export type Library = {
  list(signal: AbortSignal): Promise<readonly KeptTemplate[]>
  create(body: unknown): Promise<unknown>
  update(id: string, body: unknown): Promise<unknown>
  remove(id: string): Promise<unknown>
}

type TemplateLibraryProps = {
  title: string
  /** noun is what is made from them, in the plural. */
  noun: string
  queryKey: readonly string[]
  library: Library
  /** example is what a new one begins as. */
  example: object
  use?(template: KeptTemplate): ReactNode
}

/** TemplateLibrary lists templates; they are written as the JSON that the service takes. */
export function TemplateLibrary(props: TemplateLibraryProps) {
  const { title, noun, queryKey, library, example, use } = props
  const [edited, setEdited] = useState<string>()
  const list = useQuery({ queryKey, queryFn: ({ signal }) => library.list(signal) })
  const write = (id: string, first: object) => (
    <Editor library={library} id={id} first={first} queryKey={queryKey} onDone={() => setEdited(undefined)} />
  )
  return (
    <Panel
      title={title}
      actions={
        edited === undefined && (
          <Button size="small" aria-label={`New template of ${noun}`} onClick={() => setEdited('new')}>
            New
          </Button>
        )
      }
    >
      {list.error ? <FailureNote thrown={list.error} again={() => list.refetch()} /> : null}
      {!list.data && !list.error && <Waiting>Reading the templates …</Waiting>}
      {edited === 'new' && write('new', example)}
      {list.data?.length === 0 && edited !== 'new' && <p className="p-3 text-soft">There is no template of {noun} yet.</p>}
      {list.data && list.data.length > 0 && (
        <ul aria-label={title} className="divide-y divide-line">
          {list.data.map((one) => (
            <li key={one.id}>
              {edited === one.id ? (
                write(one.id, contentOf(one))
              ) : (
                <Row template={one} library={library} queryKey={queryKey} onEdit={() => setEdited(one.id)}>
                  {use?.(one)}
                </Row>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

/** contentOf is a template without what the service keeps of it. */
function contentOf(template: KeptTemplate): object {
  const { id: _id, metadata: _metadata, ...content } = template as KeptTemplate & { metadata?: unknown }
  return content
}

type RowProps = {
  template: KeptTemplate
  library: Library
  queryKey: readonly string[]
  onEdit(): void
  children: ReactNode
}

function Row({ template, library, queryKey, onEdit, children }: RowProps) {
  const queries = useQueryClient()
  const { id, name, description, parameters } = template
  const names = Object.keys(parameters)
  const remove = async () => {
    await library.remove(id)
    await queries.invalidateQueries({ queryKey })
  }
  return (
    <div className="flex flex-wrap items-start gap-2 px-3 py-2">
      <div className="min-w-0 flex-1 basis-48">
        <p className="break-words font-medium">{name}</p>
        {description && <p className="break-words text-soft text-xs">{description}</p>}
        <p className="text-soft text-xs">{names.length === 0 ? 'asks for nothing' : `asks for ${names.join(', ')}`}</p>
      </div>
      {children}
      <Button size="small" aria-label={`Edit the template ${name}`} onClick={onEdit}>
        Edit
      </Button>
      <Confirm
        action="Delete"
        size="small"
        label={`Delete the template ${name}`}
        question={`Delete the template “${name}”? What was made from it stays.`}
        onYes={remove}
      />
    </div>
  )
}

type EditorProps = {
  library: Library
  id: string
  first: object
  queryKey: readonly string[]
  onDone(): void
}

const ROWS = 18

function Editor({ library, id, first, queryKey, onDone }: EditorProps) {
  const queries = useQueryClient()
  const [text, setText] = useState(() => JSON.stringify(first, null, 2))
  const save = useMutation({
    mutationFn: async () => {
      const body = bodyIn(text)
      await (id === 'new' ? library.create(body) : library.update(id, body))
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey })
      onDone()
    },
  })
  return (
    <div className="flex flex-col gap-2 p-3">
      <Field name="The template as JSON; its texts say {{name}} for a parameter">
        <TextArea
          className="font-mono text-xs"
          rows={ROWS}
          spellCheck={false}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      {save.error && <FailureNote thrown={save.error} />}
      <div className="flex gap-2">
        <Button look="main" disabled={save.isPending} onClick={() => save.mutate()}>
          {save.isPending ? 'Saving …' : 'Save the template'}
        </Button>
        <Button onClick={onDone}>Leave it</Button>
      </div>
    </div>
  )
}

function bodyIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw new Error(`This is no JSON: ${thrown instanceof Error ? thrown.message : String(thrown)}`, { cause: thrown })
  }
}
