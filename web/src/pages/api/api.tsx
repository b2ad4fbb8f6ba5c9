import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { FailureNote } from '../../parts/failure.tsx'
import { hasWords } from '../../parts/has-words.ts'
import { Loading, Page } from '../../parts/page.tsx'
import { type Entry, entriesOf, type OpenApi } from './document.ts'
import { OperationView } from './operation.tsx'

/** ApiPage is the reference of the API as the service itself describes it, where every operation can be tried. */
export function ApiPage() {
  const client = useClient()
  const { op } = useSearch({ from: '/inside/api' })
  const answer = useQuery({
    queryKey: ['openapi'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => (await client.reference.openapi({ signal })) as unknown as OpenApi,
  })
  const document = answer.data
  const entries = useMemo(() => (document ? entriesOf(document) : []), [document])
  if (!document) {
    return (
      <Page title="API">
        {answer.error ? (
          <FailureNote thrown={answer.error} again={() => answer.refetch()} />
        ) : (
          <Loading>Reading what the service can do …</Loading>
        )}
      </Page>
    )
  }
  const shown = entries.find(({ operation }) => operation.operationId === op)
  return (
    <div className="flex h-full max-md:flex-col">
      <Contents entries={entries} document={document} shown={shown?.operation.operationId} />
      <div className="min-h-0 min-w-0 flex-1 overflow-auto p-4">
        {shown ? (
          <OperationView key={shown.operation.operationId} entry={shown} document={document} />
        ) : (
          <Introduction count={entries.length} isLost={op !== undefined} />
        )}
      </div>
    </div>
  )
}

function Introduction({ count, isLost }: { count: number; isLost: boolean }) {
  return (
    <div className="flex max-w-2xl flex-col gap-3">
      <h1 className="font-semibold text-lg">API</h1>
      {isLost && <p role="alert">There is no such operation.</p>}
      <p>
        Everything that this app does, it does by these {count} operations. Choose one to read what it takes and gives, and to try it as the
        one who is signed in.
      </p>
      <p className="text-soft">
        A program shows its key in the header <code className="font-mono">X-SERVICE-API-KEY</code>, or the token of a login in{' '}
        <code className="font-mono">Authorization: Bearer</code>.
      </p>
      <p className="flex gap-4">
        <a className="text-accent underline" href="/docs">
          All on one page
        </a>
        <a className="text-accent underline" href="/openapi.json">
          OpenAPI document
        </a>
      </p>
    </div>
  )
}

type ContentsProps = { entries: readonly Entry[]; document: OpenApi; shown: string | undefined }

const textOf = (method: string, path: string, { operationId, summary, description, tags }: Entry['operation']): string =>
  `${method} ${path} ${operationId} ${summary} ${description ?? ''} ${tags.join(' ')}`

/** Contents lists the operations by what they are about; typing finds them by path or sentence. */
function Contents({ entries, document, shown }: ContentsProps) {
  const [typed, setTyped] = useState('')
  const found = entries.filter(({ method, path, operation }) => hasWords(textOf(method, path, operation), typed))
  return (
    <nav
      aria-label="Operations"
      className="flex w-80 shrink-0 flex-col border-line border-r bg-panel max-md:h-56 max-md:w-full max-md:border-b"
    >
      <div className="p-2">
        <input
          className="h-8 w-full rounded border border-line bg-ground px-2"
          aria-label="Find an operation"
          placeholder={`Find among ${entries.length} operations`}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      <div className="min-h-0 flex-1 overflow-auto px-2 pb-4">
        {document.tags.map(({ name, description }) => {
          const own = found.filter(({ operation }) => operation.tags.includes(name))
          if (own.length === 0) return null
          return (
            <section key={name} className="mb-2">
              <h2 className="px-1 py-1 font-medium text-soft text-xs">{description}</h2>
              <ul>
                {own.map(({ method, path, operation }) => (
                  <li key={operation.operationId}>
                    <Link
                      to="/api"
                      search={{ op: operation.operationId }}
                      aria-current={operation.operationId === shown ? 'page' : undefined}
                      title={operation.summary}
                      className="flex items-baseline gap-2 rounded px-1 py-0.5 font-mono text-xs hover:bg-tint aria-[current=page]:bg-tint"
                    >
                      <span className="w-12 shrink-0 text-accent">{method}</span>
                      <span className="min-w-0 truncate">{path}</span>
                    </Link>
                  </li>
                ))}
              </ul>
            </section>
          )
        })}
        {found.length === 0 && <p className="px-1 text-soft">No operation is called so.</p>}
      </div>
    </nav>
  )
}
