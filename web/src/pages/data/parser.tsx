import type { Dataset, Parser } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Star, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { share } from '../../parts/chart/numbers.ts'
import { Confirm } from '../../parts/records/confirm.tsx'
import { EditAndDelete } from '../../parts/records/record-panel.tsx'
import { Loaded, Row, Rows } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel, panelColumns } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { LineTimes } from './line-times.tsx'
import { ParserForm } from './parser-form.tsx'

export const PARSERS = ['parsers']

/** Selects how lines of a dataset are parsed: automatically, or by an assigned parser. */
export function ParserPart({ dataset }: { dataset: Dataset }) {
  const client = useClient()
  const list = useQuery({ queryKey: PARSERS, queryFn: ({ signal }) => client.parsers.list({ signal }) })
  const [isCreating, setCreating] = useState(false)
  const test = useParserTest(dataset.id)
  return (
    <div className={panelColumns}>
      <AssignedParser dataset={dataset} parsers={list.data?.parsers} />
      <LineTimes dataset={dataset} />
      {isCreating && (
        <Panel title="New parser">
          <ParserForm dataset={dataset} parser={undefined} onEnd={() => setCreating(false)} />
        </Panel>
      )}
      <Panel
        title="Parsers"
        actions={
          <>
            <Button disabled={test.isFetching} onClick={() => test.refetch()}>
              {test.isFetching ? 'Testing…' : 'Test on recent lines'}
            </Button>
            {!isCreating && (
              <Permitted to="parsers_write">
                <Button variant="main" onClick={() => setCreating(true)}>
                  New parser
                </Button>
              </Permitted>
            )}
          </>
        }
      >
        {test.error && <FailureNote thrown={test.error} again={test.refetch} />}
        {test.data && (
          <p role="status" className="px-3 pt-2 text-soft">
            {test.data.recommended_parser_id === '' ? 'No parser matches the recent lines.' : 'The best match is marked.'}
          </p>
        )}
        <Loaded of={list}>
          {({ parsers }) => (
            <Rows
              label="Parsers"
              columns={['Name', 'Pattern', 'Matching recent lines']}
              empty="No parsers yet."
              howTo={<Permitted to="parsers_write">Create one with “New parser”.</Permitted>}
            >
              {parsers.map((parser) => (
                <ParserRow
                  key={parser.id}
                  parser={parser}
                  dataset={dataset}
                  coverage={test.data?.candidates.find(({ parser_id }) => parser_id === parser.id)?.coverage}
                  isBest={test.data?.recommended_parser_id === parser.id}
                />
              ))}
            </Rows>
          )}
        </Loaded>
      </Panel>
    </div>
  )
}

/** Tests all parsers on recent lines when the user asks for it. */
function useParserTest(log_id: string) {
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
    enabled: dataset.parser_id !== undefined,
  })
  const unassign = useSave(() => client.parsers.unassign({ params }), { stale: [['datasets']] })
  const parser = parsers?.find(({ id }) => id === dataset.parser_id)
  const [read] = ratio.data?.match_ratio ?? []
  if (dataset.parser_id === undefined)
    return <p>The format of each line is detected: JSON, syslog, access log or key=value. Assign a parser if lines have another format.</p>
  return (
    <Panel
      title={`Parsed by ${parser?.name ?? 'an unknown parser'}`}
      actions={
        <Confirm
          action="Unassign"
          needs="parsers_write"
          message="Parse new lines without this parser? Stored events do not change."
          onYes={() => unassign.mutateAsync()}
        />
      }
    >
      <div className="flex flex-col gap-1 p-3">
        {parser?.pattern && <code className="break-all rounded bg-sunk p-2 font-mono text-xs">{parser.pattern}</code>}
        {parser && !parser.enabled && (
          <p className="text-warn">
            <Icon of={TriangleAlert} size="small" className="inline" /> The parser is disabled, so it is not applied.
          </p>
        )}
        {ratio.error && <FailureNote thrown={ratio.error} />}
        {ratio.data && (
          <p className="text-soft">
            {read === undefined || Number(read.count) === 0
              ? 'It has parsed no lines in the last day.'
              : `It matched ${share(read.value * Number(read.count), Number(read.count))} of ${read.count} lines of the last day. The others were stored as without a parser.`}
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
  const toggle = useSave((enabled: boolean) => client.parsers.update({ params: { parserId: parser.id }, body: { enabled } }), {
    stale: [PARSERS],
  })
  const assign = useSave(
    async () => {
      if (!parser.enabled) await toggle.mutateAsync(true)
      await client.parsers.assign({ params: { datasetId: dataset.id }, body: { parser_id: parser.id } })
    },
    { stale: [['datasets']] },
  )
  const failure = assign.error ?? toggle.error
  const isOwn = parser.scope === 'ORGANISATION'
  return (
    <Row
      cells={[
        <span key="name">
          {parser.name}
          {!parser.enabled && <span className="text-soft"> (disabled)</span>}
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
          <span key="matches" className="whitespace-nowrap tabular-nums">
            {share(coverage, 1)}
            {isBest && (
              <span className="text-accent">
                {' '}
                <Icon of={Star} size="small" className="inline" /> best
              </span>
            )}
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
        <span className="self-center text-accent text-xs">assigned</span>
      ) : (
        <Permitted to="parsers_write">
          <Button size="small" disabled={assign.isPending} aria-label={`Assign ${parser.name}`} onClick={() => assign.mutate()}>
            Assign
          </Button>
        </Permitted>
      )}
      {isOwn && (
        <>
          <Permitted to="parsers_write">
            <Button size="small" disabled={toggle.isPending} onClick={() => toggle.mutate(!parser.enabled)}>
              {parser.enabled ? 'Disable' : 'Enable'}
            </Button>
          </Permitted>
          <EditAndDelete
            name={`parser ${parser.name}`}
            isEdited={isEdited}
            stale={PARSERS}
            rights={{ write: 'parsers_write', delete: 'parsers_delete' }}
            onEdit={setEdited}
            message={`Delete “${parser.name}”? It is unassigned from its datasets. Stored events do not change.`}
            onDelete={() => client.parsers.remove({ params: { parserId: parser.id } })}
          />
        </>
      )}
    </Row>
  )
}
