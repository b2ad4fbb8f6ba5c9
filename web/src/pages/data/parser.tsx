import type { Dataset, Parser } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useClient } from '../../parts/client.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FailureNote } from '../../parts/failure.tsx'
import { share } from '../../parts/numbers.ts'
import { Panel } from '../../parts/page.tsx'
import { Answer, ChangeAndDelete, Row, Rows, useAction } from '../../parts/records.tsx'
import { Button } from '../../ui/button.tsx'
import { ParserForm } from './parser-form.tsx'

export const PARSERS = ['parsers']

/** ParserPart selects how lines of a dataset are parsed: automatically, or by an assigned parser. */
export function ParserPart({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const list = useQuery({ queryKey: PARSERS, queryFn: ({ signal }) => client.parsers.list({ signal }) })
  const [isMaking, setMaking] = useState(false)
  const fits = useFits(dataset.id)
  return (
    <>
      <AssignedParser dataset={dataset} parsers={list.data?.parsers} />
      {isMaking && (
        <Panel title="New parser">
          <ParserForm dataset={dataset} parser={undefined} onEnd={() => setMaking(false)} />
        </Panel>
      )}
      <Panel
        title="Parsers"
        actions={
          <>
            <Button disabled={fits.isFetching} onClick={() => fits.refetch()}>
              {fits.isFetching ? 'Testing…' : 'Which fit recent lines?'}
            </Button>
            {!isMaking && (
              <Button look="main" onClick={() => setMaking(true)}>
                New parser
              </Button>
            )}
          </>
        }
      >
        {fits.error && <FailureNote thrown={fits.error} again={fits.refetch} />}
        {fits.data && (
          <p role="status" className="px-3 pt-2 text-soft">
            {fits.data.recommended_parser_id === '' ? 'None fits the recent lines.' : 'What fits the recent lines is marked.'}
          </p>
        )}
        <Answer of={list}>
          {({ parsers }) => (
            <Rows label="Parsers" heads={['Name', 'Pattern', 'Fits recent lines']} empty="No parsers yet.">
              {parsers.map((parser) => (
                <ParserRow
                  key={parser.id}
                  parser={parser}
                  dataset={dataset}
                  coverage={fits.data?.candidates.find(({ parser_id }) => parser_id === parser.id)?.coverage}
                  isBest={fits.data?.recommended_parser_id === parser.id}
                />
              ))}
            </Rows>
          )}
        </Answer>
      </Panel>
    </>
  )
}

/** useFits tests all parsers on recent lines, on request. */
function useFits(log_id: string) {
  const client = useClient()
  return useQuery({
    queryKey: ['parsers that fit', log_id],
    enabled: false,
    queryFn: ({ signal }) => client.parsers.detect({ body: { log_id }, signal, repeatable: true }),
  })
}

function AssignedParser({ dataset, parsers }: { dataset: Dataset; parsers: readonly Parser[] | undefined }) {
  const client = useClient()
  const params = { datasetId: dataset.id }
  const query = { time_range: 'Last 1 day', log_id: dataset.id, num_of_slices: 1 }
  const ratio = useQuery({
    queryKey: ['parser ratio', dataset.id],
    queryFn: ({ signal }) => client.parsers.ratio({ query, signal }),
    enabled: dataset.parser_id !== '',
  })
  const unassign = useAction(['datasets'], () => client.parsers.unassign({ params }))
  const parser = parsers?.find(({ id }) => id === dataset.parser_id)
  const [read] = ratio.data?.match_ratio ?? []
  if (dataset.parser_id === '')
    return (
      <p>
        This dataset has no parser of its own: the form of each line is found out by itself, whether JSON, syslog, access log or key=value.
        Give it one where lines have a form of their own.
      </p>
    )
  return (
    <Panel
      title={`Read by ${parser?.name ?? 'a parser'}`}
      actions={
        <Confirm
          action="Unassign"
          message="Read new lines without this parser? What was read before stays as it is."
          onYes={() => unassign.mutateAsync(undefined)}
        />
      }
    >
      <div className="flex flex-col gap-1 p-3">
        {parser?.pattern && <code className="break-all rounded bg-sunk p-2 font-mono text-xs">{parser.pattern}</code>}
        {parser && !parser.enabled && <p className="text-warn">▲ It is switched off, so it is not applied.</p>}
        {ratio.error && <FailureNote thrown={ratio.error} />}
        {ratio.data && (
          <p className="text-soft">
            {read === undefined || Number(read.count) === 0
              ? 'It has read no line in the last day.'
              : `Of ${read.count} lines of the last day it fitted ${share(read.value * Number(read.count), Number(read.count))}; the others were kept and read as without it.`}
          </p>
        )}
      </div>
    </Panel>
  )
}

type ParserRowProps = { parser: Parser; dataset: Dataset; coverage: number | undefined; isBest: boolean }

function ParserRow({ parser, dataset, coverage, isBest }: ParserRowProps) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const toggle = useAction(PARSERS, (enabled: boolean) => client.parsers.update({ params: { parserId: parser.id }, body: { enabled } }))
  const assign = useAction(['datasets'], async () => {
    if (!parser.enabled) await toggle.mutateAsync(true)
    await client.parsers.assign({ params: { datasetId: dataset.id }, body: { parser_id: parser.id } })
  })
  const remove = useAction(PARSERS, () => client.parsers.remove({ params: { parserId: parser.id } }))
  const failure = assign.error ?? toggle.error
  const isOwn = parser.scope === 'ORGANISATION'
  return (
    <Row
      cells={[
        <span key="name">
          {parser.name}
          {!parser.enabled && <span className="text-soft"> (off)</span>}
          {parser.description && <span className="block text-soft text-xs">{parser.description}</span>}
        </span>,
        parser.pattern ? (
          <code key="pattern" className="block max-w-xl break-all font-mono text-xs">
            {parser.pattern}
          </code>
        ) : (
          <span key="pattern" className="text-soft">
            built in
          </span>
        ),
        coverage !== undefined && (
          <span key="fits" className="whitespace-nowrap tabular-nums">
            {share(coverage, 1)}
            {isBest && <span className="text-accent"> ★ best</span>}
          </span>
        ),
      ]}
      below={
        isEdited ? (
          <ParserForm dataset={dataset} parser={parser} onEnd={() => setEdited(false)} />
        ) : failure ? (
          <FailureNote thrown={failure} />
        ) : undefined
      }
    >
      {dataset.parser_id === parser.id ? (
        <span className="self-center text-accent text-xs">reads this dataset</span>
      ) : (
        <Button size="small" disabled={assign.isPending} aria-label={`Use ${parser.name}`} onClick={() => assign.mutate(undefined)}>
          Use
        </Button>
      )}
      {isOwn && (
        <>
          <Button size="small" disabled={toggle.isPending} onClick={() => toggle.mutate(!parser.enabled)}>
            {parser.enabled ? 'Switch off' : 'Switch on'}
          </Button>
          <ChangeAndDelete
            isEdited={isEdited}
            onEdit={setEdited}
            label={`Delete the parser ${parser.name}`}
            message={`Delete "${parser.name}"? Datasets that have it are left without one; what was read stays.`}
            onDelete={() => remove.mutateAsync(undefined)}
          />
        </>
      )}
    </Row>
  )
}
