import type { Dataset, Parser } from '@dendro/api'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useState } from 'react'
import { share } from '../../parts/chart/numbers.ts'
import { Form, FormField, type TextOf } from '../../parts/records/form.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Button } from '../../ui/button.tsx'
import { Field, Input, TextArea } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'

const SAMPLES = 10

type ParserFormProps = { dataset: Dataset; parser: Parser | undefined; onEnd(): void }

/** Edits a pattern and tests it; an empty pattern is derived from recent lines. */
export function ParserForm({ dataset, parser, onEnd }: ParserFormProps) {
  const client = useClient()
  const [pattern, setPattern] = useState(parser?.pattern ?? '')
  const save = async (text: TextOf) => {
    const description = text('description')
    const body = {
      name: text('name'),
      ...(pattern.trim() === '' ? {} : { pattern }),
      ...(description === '' ? {} : { description }),
    }
    if (parser) return client.parsers.update({ params: { parserId: parser.id }, body: { ...body, enabled: parser.enabled } })
    const created = await client.parsers.create({ body: { ...body, log_id: dataset.id } })
    return client.parsers.update({ params: { parserId: created.id }, body: { enabled: true } })
  }
  return (
    <>
      <Form
        action={parser ? 'Save' : 'Create parser'}
        label={parser ? `Edit ${parser.name}` : 'New parser'}
        layout="column"
        stale={['parsers']}
        onSend={save}
        onSaved={onEnd}
        onCancel={onEnd}
      >
        <div className="flex flex-wrap gap-2">
          <FormField name="Name" of="name" className="min-w-48">
            <Input
              name="name"
              required
              maxLength={100}
              autoComplete="off"
              defaultValue={parser?.name ?? `${dataset.collection}/${dataset.dataset}`.slice(0, 100)}
            />
          </FormField>
          <FormField name="Description" of="description" help="Optional, 8 characters or more" className="min-w-64 flex-1">
            <Input name="description" minLength={8} maxLength={512} autoComplete="off" defaultValue={parser?.description} />
          </FormField>
        </div>
        <FormField
          name="Pattern"
          of={['pattern', 'type']}
          help={
            parser
              ? 'GROK, as in %{IP:client}, or DISSECT, as in %{client}.'
              : 'GROK, as in %{IP:client}, or DISSECT, as in %{client}. If empty, it is derived from recent lines.'
          }
        >
          <TextArea
            className="font-mono text-xs"
            maxLength={2048}
            rows={2}
            spellCheck={false}
            value={pattern}
            onChange={(event) => setPattern(event.target.value)}
          />
        </FormField>
      </Form>
      <PatternTest id={dataset.id} pattern={pattern} />
    </>
  )
}

/** Applies a pattern to lines, starting with the newest of the dataset, without storing anything. */
function PatternTest({ id, pattern }: { id: string; pattern: string }) {
  const client = useClient()
  const [editedText, setEditedText] = useState<string>()
  const recent = useQuery({
    queryKey: ['recent lines', id],
    queryFn: async ({ signal }) => {
      const body = { from: [id], time_range: 'Last 7 days', select: ['@raw'], limit: SAMPLES }
      const { events } = await client.search.run({ body, signal, repeatable: true })
      return events.map((event) => (event['@raw'] ?? '').split('\n')[0] ?? '').join('\n')
    },
  })
  const text = editedText ?? recent.data ?? ''
  const lines = text.split('\n').filter((line) => line !== '')
  const trial = useMutation({ mutationFn: () => client.parsers.test({ body: { pattern, lines } }) })
  return (
    <section aria-label="Test" className="flex flex-col gap-2 border-line border-t p-3">
      <Field name="Test lines" help={recent.isPending ? 'Loading…' : 'The newest lines of the dataset; you can change them'}>
        <TextArea
          className="whitespace-pre font-mono text-xs"
          rows={4}
          spellCheck={false}
          value={text}
          onChange={(event) => setEditedText(event.target.value)}
        />
      </Field>
      <Button
        className="self-start"
        disabled={pattern.trim() === '' || lines.length === 0 || trial.isPending}
        onClick={() => trial.mutate()}
      >
        {trial.isPending ? 'Testing…' : 'Test pattern'}
      </Button>
      {trial.error && <FailureNote thrown={trial.error} />}
      {trial.data && (
        <div role="status" className="flex flex-col gap-2">
          <p>
            Matches {trial.data.metrics.matched_lines} of {trial.data.metrics.total_lines} (
            {share(trial.data.metrics.matched_lines, trial.data.metrics.total_lines)}).
            {trial.data.metrics.error_lines > 0 && ` ${trial.data.metrics.error_lines} timed out.`}
          </p>
          <ol className="flex flex-col gap-2">
            {trial.data.results.map(({ raw, matched, key_values }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines may be the same
              <li key={at} className="rounded border border-line bg-panel p-2 text-xs">
                <p className="flex items-baseline gap-2">
                  <span className={matched ? 'text-accent' : 'text-error'}>
                    <Icon of={matched ? Check : X} size="small" className="inline" /> {matched ? 'match' : 'no match'}
                  </span>
                  <code className="min-w-0 wrap-anywhere font-mono">{raw.slice(0, 400)}</code>
                </p>
                {matched && (
                  <dl className="mt-1 grid grid-cols-[auto_1fr] gap-x-3">
                    {Object.entries(key_values).map(([name, value]) => (
                      <div key={name} className="contents">
                        <dt className="font-mono text-soft">{name}</dt>
                        <dd className="wrap-anywhere font-mono">{value}</dd>
                      </div>
                    ))}
                  </dl>
                )}
              </li>
            ))}
          </ol>
        </div>
      )}
    </section>
  )
}
