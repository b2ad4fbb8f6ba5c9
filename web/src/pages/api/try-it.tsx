import { type FormEvent, useState } from 'react'
import { copyText } from '../../parts/copy.ts'
import { bytes, count } from '../../parts/numbers.ts'
import { keptCredential } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { type Entry, type OpenApi, sampleOf } from './document.ts'

type Answer = { status: number; ms: number; size: number; text: string }

const SHOWN_MAX = 50_000

/** TryIt sends an operation as whoever is signed in, and shows what came back as it came. */
export function TryIt({ entry, document }: { entry: Entry; document: OpenApi }) {
  const { method, operation } = entry
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? []
  const isJson = type === 'application/json'
  const [body, setBody] = useState(() => (content && isJson ? JSON.stringify(sampleOf(content.schema, document), undefined, 2) : ''))
  const [answer, setAnswer] = useState<Answer>()
  const [failure, setFailure] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const parameters = operation.parameters ?? []
  const requestOf = (form: HTMLFormElement) => {
    const data = new FormData(form)
    return { url: addressOf(entry, (name) => String(data.get(name) ?? '')), body: content && body.trim() !== '' ? body : undefined }
  }
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const request = requestOf(event.currentTarget)
    setBusy(true)
    setFailure(undefined)
    const startedMs = performance.now()
    try {
      const reply = await fetch(request.url, {
        method,
        headers: { ...credentialHeaders(), ...(request.body === undefined ? {} : { 'content-type': type ?? 'application/json' }) },
        ...(request.body === undefined ? {} : { body: request.body }),
        signal: AbortSignal.timeout(TRY_MS),
      })
      const text = await reply.text()
      setAnswer({ status: reply.status, ms: performance.now() - startedMs, size: new Blob([text]).size, text: pretty(text) })
    } catch (thrown) {
      setFailure(String(thrown))
    }
    setBusy(false)
  }
  return (
    <section aria-label="Try it" className="rounded-md border border-line bg-panel p-3">
      <h2 className="mb-2 font-medium">Try it</h2>
      <form onSubmit={send} className="flex flex-col gap-2">
        <div className="grid gap-2 sm:grid-cols-2">
          {parameters.map(({ name, required, in: place }) => (
            <Field key={name} name={`${name}${place === 'path' ? ' (in the path)' : ''}`}>
              <Input name={name} required={required} className="font-mono" autoComplete="off" />
            </Field>
          ))}
        </div>
        {content && (
          <Field name={`Body, ${type}`}>
            <TextArea
              rows={Math.min(16, body.split('\n').length + 1)}
              className="font-mono text-xs"
              value={body}
              onChange={(event) => setBody(event.target.value)}
              spellCheck={false}
            />
          </Field>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button type="submit" look="main" disabled={isBusy}>
            {isBusy ? 'Sending …' : `Send ${method}`}
          </Button>
          <Button
            onClick={(event) => {
              const form = event.currentTarget.closest('form')
              if (form) void copyText(curlOf(method, requestOf(form), type))
            }}
          >
            Copy as curl
          </Button>
          {content && isJson && (
            <Button
              look="quiet"
              onClick={() => setBody(JSON.stringify(sampleOf(content.schema, document, { isWhole: true }), undefined, 2))}
            >
              Every member
            </Button>
          )}
          {method !== 'GET' && <span className="text-soft text-xs">It is done for real, as the one who is signed in.</span>}
        </div>
      </form>
      {failure && (
        <p role="alert" className="mt-2 text-error">
          {failure}
        </p>
      )}
      {answer && (
        <div role="status" className="mt-3">
          <p className="flex items-center gap-2 text-xs tabular-nums">
            <span className={answer.status >= 400 ? 'text-error' : 'text-soft'}>
              {answer.status} · {Math.round(answer.ms)} ms · {bytes(answer.size)}
            </span>
            {answer.text !== '' && (
              <Button size="small" look="quiet" onClick={() => copyText(answer.text)}>
                Copy the answer
              </Button>
            )}
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long answer is scrolled by keyboard too */}
          <pre tabIndex={0} className="mt-1 max-h-120 overflow-auto rounded bg-sunk p-2 font-mono text-xs">
            {answer.text.slice(0, SHOWN_MAX) || '(nothing)'}
            {answer.text.length > SHOWN_MAX && ` … ${count(answer.text.length - SHOWN_MAX)} characters more; copying takes all`}
          </pre>
        </div>
      )}
    </section>
  )
}

const TRY_MS = 60_000

function addressOf({ path, operation }: Entry, given: (name: string) => string): string {
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place } of operation.parameters ?? []) {
    const value = given(name)
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    else if (value !== '') query.append(name, value)
  }
  return query.size > 0 ? `${filled}?${query}` : filled
}

function credentialHeaders(): Record<string, string> {
  const credential = keptCredential()
  if (!credential) return {}
  return credential.kind === 'token' ? { authorization: `Bearer ${credential.text}` } : { 'x-service-api-key': credential.text }
}

/** curlOf names no credential: what is copied is often pasted where others read it. */
function curlOf(method: string, { url, body }: { url: string; body: string | undefined }, type: string | undefined): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const parts = [`curl -X ${method}`, '-H "X-SERVICE-API-KEY: $DENDRO_API_KEY"', quoted(location.origin + url)]
  return body === undefined ? parts.join(' ') : [...parts, `-H ${quoted(`content-type: ${type}`)}`, `-d ${quoted(body)}`].join(' ')
}

/** pretty indents JSON without reading its numbers, which may have more digits than a page can hold. */
function pretty(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    return /\d{16}/.test(text) ? text : JSON.stringify(parsed, undefined, 2)
  } catch {
    return text
  }
}
