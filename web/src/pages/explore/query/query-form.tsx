import { ApiFailure } from '@dendro/api/client'
import { withPatternTexts } from '@dendro/language/pattern-texts'
import { Play, X } from 'lucide-react'
import { type FormEvent, type RefObject, useEffect, useState } from 'react'
import { usePatternTexts } from '../../../parts/datasets/pattern-texts.tsx'
import type { Field } from '../../../parts/query/fields.ts'
import { fixName } from '../../../parts/query/fix-name.ts'
import { type QueryFocus, QueryInput } from '../../../parts/query/query-input.tsx'
import { readWhere } from '../../../parts/query/query-readers.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { negate, replaceClause, splitClauses, withClause, withoutClause } from './clauses.ts'
import { ConditionChip } from './condition-chip.tsx'
import { recentQueryTexts } from './recent-queries.ts'

type QueryFormProps = {
  query: string
  off: readonly string[]
  failure: unknown
  fields: readonly Field[]
  isBusy: boolean
  inputRef: RefObject<QueryFocus | null>
  onQuery(query: string, off?: readonly string[]): void
  onRun(): void
  onCancel(): void
}

/** Shows the query as text and its conditions as chips. */
export function QueryForm({ query, off, failure, fields, isBusy, inputRef, onQuery, onRun, onCancel }: QueryFormProps) {
  const [text, setText] = useState(query)
  useEffect(() => setText(query), [query])
  const clauses = splitClauses(query)
  const texts = usePatternTexts([query, ...off].join(' '))
  const run = (queryText: string) => {
    if (queryText.trim() === query) onRun()
    else onQuery(queryText.trim())
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    run(text)
  }
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <form
        aria-label="Query"
        onSubmit={onSubmit}
        // On a phone a long query has one line while it is not edited, so that nothing moves when a condition comes.
        className="flex items-start gap-2 max-sm:[&_.cm-editor:not(.cm-focused)]:h-[30px] max-sm:[&_.cm-editor:not(.cm-focused)]:overflow-hidden"
      >
        <QueryInput
          ref={inputRef}
          label="Query"
          placeholder="Words, or field = value AND …"
          text={text}
          known={{ read: readWhere, fields, recent: text.trim() === '' ? recentQueryTexts() : [] }}
          onText={setText}
          onRun={run}
        />
        {isBusy ? (
          <Button key="cancel" onClick={onCancel} className="w-20 justify-center max-sm:w-10">
            <Icon of={X} />
            <span className="max-sm:sr-only">Cancel</span>
          </Button>
        ) : (
          <Button key="run" type="submit" variant="main" className="w-20 justify-center max-sm:w-10">
            <Icon of={Play} />
            <span className="max-sm:sr-only">Run</span>
          </Button>
        )}
      </form>
      <QueryFailure query={query} failure={failure} onFix={onQuery} />
      {/* The line has its height also without conditions, so that nothing moves when one comes. Few conditions share it, more take further lines; on a phone they scroll. */}
      {clauses.length + off.length === 0 ? (
        <p className="h-5.5 truncate text-soft text-xs leading-5.5 max-sm:h-5 max-sm:leading-5">No conditions. Click a value to add one.</p>
      ) : (
        <ul
          // A condition that is edited shows a list below it, which scrolling would cut.
          className={`flex min-h-5.5 min-w-0 gap-1 max-sm:min-h-5 max-sm:flex-nowrap max-sm:[&:not(:has(.cm-content))]:overflow-x-auto max-sm:[scrollbar-width:none] max-sm:*:max-w-[85%] max-sm:*:shrink-0 ${clauses.length + off.length > ONE_LINE_MAX ? 'flex-wrap' : ''}`}
          aria-label="Conditions"
        >
          {clauses.map((clause) => (
            <ConditionChip
              key={clause}
              clause={clause}
              label={withPatternTexts(clause, texts)}
              fields={fields}
              isOn
              onEdit={(replacement) => onQuery(replaceClause(query, clause, replacement))}
              onNegate={() => onQuery(replaceClause(query, clause, negate(clause)))}
              onToggle={() => onQuery(withoutClause(query, clause), [...off, clause])}
              onRemove={() => onQuery(withoutClause(query, clause))}
            />
          ))}
          {off.map((clause) => (
            <ConditionChip
              key={`off ${clause}`}
              clause={clause}
              label={withPatternTexts(clause, texts)}
              fields={fields}
              isOn={false}
              onEdit={(replacement) =>
                onQuery(
                  query,
                  off.map((one) => (one === clause ? replacement : one)),
                )
              }
              onNegate={() =>
                onQuery(
                  query,
                  off.map((one) => (one === clause ? negate(clause) : one)),
                )
              }
              onToggle={() =>
                onQuery(
                  withClause(query, clause),
                  off.filter((one) => one !== clause),
                )
              }
              onRemove={() =>
                onQuery(
                  query,
                  off.filter((one) => one !== clause),
                )
              }
            />
          ))}
        </ul>
      )}
    </div>
  )
}

/** The number of conditions that share one line, with their texts cut. */
const ONE_LINE_MAX = 5

/** QueryFailure underlines the characters of each syntax error and offers the fix that the service suggests. */
function QueryFailure({ query, failure, onFix }: { query: string; failure: unknown; onFix(query: string): void }) {
  const errors = failure instanceof ApiFailure ? (failure.errors ?? []).filter(({ field }) => field === 'where') : []
  if (errors.length === 0) return null
  return (
    <div role="alert" className="rounded border border-error/50 bg-panel px-2 py-1 text-sm">
      {errors.map((error) => {
        const { position: from = query.length, length = 1, fix } = error
        return (
          <div key={`${error.code} ${from}`} className="flex flex-col gap-0.5">
            <code className="overflow-x-auto whitespace-pre font-mono text-xs">
              {query.slice(0, from)}
              <mark className="bg-transparent text-error underline decoration-2 decoration-wavy">
                {query.slice(from, from + length) || '␣'}
              </mark>
              {query.slice(from + length)}
            </code>
            <span className="text-error">
              {error.message}
              {error.hint ? `: ${error.hint}` : ''}
            </span>
            {fix && (
              <Button
                className="self-start"
                onClick={() => onFix(query.slice(0, fix.position) + fix.text + query.slice(fix.position + fix.length))}
              >
                Change to <code className="font-mono">{fixName(fix.text)}</code>
              </Button>
            )}
          </div>
        )
      })}
    </div>
  )
}
