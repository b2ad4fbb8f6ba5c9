import type { ReactNode } from 'react'
import { type Entry, type OpenApi, type Schema, settled, typeText } from './document.ts'
import { TryIt } from './try-it.tsx'

/** OperationView is one operation: what it does, who may, what it takes and gives, and a place to try it. */
export function OperationView({ entry, document }: { entry: Entry; document: OpenApi }) {
  const { method, path, operation } = entry
  const [success] = Object.entries(operation.responses)
  const body = operation.requestBody && Object.values(operation.requestBody.content)[0]?.schema
  const reply = success && Object.values(success[1].content ?? {})[0]?.schema
  return (
    <article className="flex max-w-4xl flex-col gap-4">
      <header className="flex flex-col gap-1">
        <h1 className="font-semibold text-lg">{operation.summary}</h1>
        <p className="break-all font-mono">
          <span className="text-accent">{method}</span> {path}
        </p>
        {operation.description && <p className="whitespace-pre-line text-soft">{operation.description}</p>}
        <p className="text-soft text-xs">{whoMay(operation['x-permission'], operation['x-roles'])}</p>
      </header>
      {(operation.parameters ?? []).length > 0 && (
        <Part title="Parameters">
          <Fields
            document={document}
            fields={(operation.parameters ?? []).map(({ name, required, description, schema, in: place }) => ({
              name,
              isRequired: required,
              schema: description === undefined ? schema : { ...schema, description },
              note: place,
            }))}
          />
        </Part>
      )}
      {body && (
        <Part title="Body">
          <Shape schema={body} document={document} />
        </Part>
      )}
      {reply && (
        <Part title={`Answer ${success[0]}`}>
          <Shape schema={reply} document={document} />
        </Part>
      )}
      <TryIt entry={entry} document={document} />
      <Part title="Failures">
        <p className="font-mono text-soft text-xs">
          {Object.keys(operation.responses)
            .filter((code) => Number(code) >= 400)
            .join(' ')}
        </p>
      </Part>
    </article>
  )
}

function whoMay(permission: string, roles: readonly string[]): string {
  if (permission === 'public') return 'Open to everybody.'
  if (permission === 'any') return 'For everybody who is signed in.'
  return `Needs the permission ${permission}, which these roles have: ${roles.join(', ')}.`
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-1 font-medium">{title}</h2>
      {children}
    </section>
  )
}

/** Shape lists the members of an object, or says what else a value is. */
function Shape({ schema: given, document }: { schema: Schema; document: OpenApi }) {
  const schema = settled(given, document)
  const members = Object.entries(schema.properties ?? {})
  if (members.length === 0) return <p className="font-mono text-xs">{typeText(given, document)}</p>
  const fields = members.map(([name, one]) => ({ name, isRequired: schema.required?.includes(name) ?? false, schema: one, note: '' }))
  return <Fields fields={fields} document={document} />
}

type FieldsProps = { fields: readonly { name: string; isRequired: boolean; schema: Schema; note: string }[]; document: OpenApi }

function Fields({ fields, document }: FieldsProps) {
  return (
    <dl className="grid grid-cols-1 gap-x-4 rounded-md border border-line bg-panel p-3 text-xs sm:grid-cols-[14rem_1fr]">
      {fields.map(({ name, isRequired, schema, note }) => (
        <div key={name} className="contents">
          <dt className="break-all py-0.5 font-mono">
            {name}
            {isRequired && (
              <span className="text-error" title="required">
                {' '}
                *
              </span>
            )}
          </dt>
          <dd className="pb-1 sm:py-0.5">
            <span className="break-words font-mono text-info">{typeText(schema, document)}</span>
            {note !== '' && <span className="text-soft"> in the {note}</span>}
            {schema.description && <span className="block text-soft">{schema.description}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
