import { type ReactNode, useState } from 'react'
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
        <dl className="grid grid-cols-[3rem_1fr] text-xs">
          {Object.keys(operation.responses)
            .filter((code) => Number(code) >= 400)
            .map((code) => (
              <div key={code} className="contents">
                <dt className="font-mono">{code}</dt>
                <dd className="text-soft">{failures.get(code) ?? ''}</dd>
              </div>
            ))}
        </dl>
      </Part>
    </article>
  )
}

const failures: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    400: 'what was sent breaks a rule; `errors` names the fields',
    401: 'no key or token, or one that is not known or has ended',
    403: 'whoever asks may not do this',
    404: 'there is no such thing, or it may not be seen',
    408: 'the body came too slowly',
    409: 'it would contradict what is there',
    410: 'it has ended',
    413: 'the body is too long',
    415: 'the body is of a type or packed in a way that is not known',
    422: 'the dataset named cannot be used',
    429: 'too much at once; `Retry-After` says when to come again',
    500: 'a fault of the service; its log has more under the correlation id',
    501: 'not there yet',
    503: 'the service cannot do it just now; `Retry-After` says when to come again',
  }),
)

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
            <Type schema={schema} document={document} />
            {note !== '' && <span className="text-soft"> in the {note}</span>}
            {schema.description && <span className="block text-soft">{schema.description}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Type says what a value may be; what has members of its own can be opened. */
function Type({ schema, document }: { schema: Schema; document: OpenApi }) {
  const [isOpen, setOpen] = useState(false)
  const inner = schema.items ?? schema
  const hasMembers = Object.keys(settled(inner, document).properties ?? {}).length > 0
  const text = typeText(schema, document)
  if (!hasMembers) return <span className="break-words font-mono text-info">{text}</span>
  return (
    <>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="font-mono text-info underline decoration-dotted"
      >
        {text} <span aria-hidden>{isOpen ? '▾' : '▸'}</span>
      </button>
      {isOpen && <Shape schema={inner} document={document} />}
    </>
  )
}
