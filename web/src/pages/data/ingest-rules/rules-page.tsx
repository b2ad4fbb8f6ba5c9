import type { IngestRule } from '@dendro/api'
import { Link, useSearch } from '@tanstack/react-router'
import { GripVertical } from 'lucide-react'
import { useState } from 'react'
import { ago, bytes, count, quantity } from '../../../parts/chart/numbers.ts'
import { dottedName, useDatasetsById } from '../../../parts/datasets/datasets.ts'
import { EVERYTHING } from '../../../parts/query/metric-queries.ts'
import { Confirm } from '../../../parts/records/confirm.tsx'
import { hasWords } from '../../../parts/records/has-words.ts'
import { Loaded, RecordTable } from '../../../parts/records/records.tsx'
import { useSave } from '../../../parts/records/save.ts'
import { BackToDatasets } from '../../../parts/shell/back-links.tsx'
import { useClient } from '../../../parts/shell/client.ts'
import { FailureNote } from '../../../parts/shell/failure.tsx'
import { EmptyState, Page } from '../../../parts/shell/page.tsx'
import { Permitted, useMay } from '../../../parts/shell/permitted.tsx'
import { Button, buttonClass } from '../../../ui/button.tsx'
import { Input } from '../../../ui/field.tsx'
import { Icon } from '../../../ui/icon.tsx'
import { actionText } from './action-text.ts'
import { useRulesLedger } from './ledger.ts'
import { moved } from './rule-draft.ts'
import { RuleEditor } from './rule-editor.tsx'
import { RuleVersions } from './rule-versions.tsx'
import { INGEST_RULES, useIngestRules } from './rules.ts'

/** The ingest rules in their order, or the editor of one. */
export function IngestRules() {
  const { rule, draft } = useSearch({ from: '/inside/data' })
  if (rule !== undefined || draft !== undefined)
    return <RuleEditor key={rule ?? 'new'} id={rule === 'new' ? undefined : rule} given={draft} />
  return <RuleList />
}

function RuleList() {
  const rules = useIngestRules()
  const ledger = useRulesLedger()
  const newRule = (
    <Permitted to="ingest_rules_write">
      <Link to="/data" search={{ rules: true, rule: 'new' }} className={buttonClass({ variant: 'main' })}>
        New rule
      </Link>
    </Permitted>
  )
  const hasRules = (rules.data?.ingest_rules.length ?? 0) > 0
  return (
    <Page title="Ingest rules" back={<BackToDatasets />} actions={hasRules && newRule}>
      <p className="max-w-3xl text-soft">
        Rules drop, sample, redact, change or move events before they are stored, one after the other. The ledger counts what each of them
        did.
      </p>
      <Loaded of={rules}>
        {({ ingest_rules }) =>
          ingest_rules.length === 0 ? (
            <EmptyState title="No rules yet">
              <p className="max-w-xl text-soft">
                Everything that arrives is stored as it is. A rule can drop noise, keep a share of it, or remove secrets and personal data.
                To begin with what costs most, open the patterns of a search and select Drop beside one.
              </p>
              {newRule}
            </EmptyState>
          ) : (
            <>
              {ledger.data && (
                <p role="status">
                  {ledger.data.totals.dropped === 0
                    ? 'Nothing was dropped in the last day.'
                    : `In the last day ${quantity(ledger.data.totals.dropped, 'event')} with ${bytes(Number(ledger.data.totals.dropped_bytes))} were dropped.`}
                </p>
              )}
              <FoundRules rules={ingest_rules} acted={ledger.data?.totals.rules} />
            </>
          )
        }
      </Loaded>
    </Page>
  )
}

type Acted = Readonly<Record<string, number | bigint>> | undefined

/** The number of rules from which they can be searched. */
const SEARCHED_FROM = 10

/** The rules, of which many can be searched by every text that a row shows. */
function FoundRules({ rules, acted }: { rules: readonly IngestRule[]; acted: Acted }) {
  const [find, setFind] = useState('')
  const { nameOf } = useDatasetsById(rules.flatMap(({ from = [] }) => from))
  const datasetsOf = ({ from, from_expr }: IngestRule): string =>
    from ? from.map((id) => nameOf(id, dottedName)).join(', ') : selectorText(from_expr)
  const isFound = (rule: IngestRule): boolean =>
    hasWords([rule.name, rule.description, datasetsOf(rule), rule.where, actionText(rule.action)].join(' '), find)
  const found = rules.filter(isFound)
  const disabled = rules.filter(({ enabled }) => !enabled).length
  return (
    <>
      {rules.length > SEARCHED_FROM && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
          <Input
            className="sm:max-w-64"
            placeholder="Find a rule"
            aria-label="Find a rule"
            value={find}
            onChange={({ target }) => setFind(target.value)}
          />
          <span role="status" className="text-soft text-xs tabular-nums">
            {find.trim() === ''
              ? `${quantity(rules.length, 'rule')}${disabled > 0 ? `, ${count(disabled)} disabled` : ''}`
              : `${count(found.length)} of ${quantity(rules.length, 'rule')}`}
          </span>
        </div>
      )}
      {found.length === 0 ? (
        <EmptyState title="No rule matches">
          <Button onClick={() => setFind('')}>Show all</Button>
        </EmptyState>
      ) : (
        <Table rules={rules} isShown={isFound} isWhole={found.length === rules.length} datasetsOf={datasetsOf} acted={acted} />
      )}
    </>
  )
}

type TableProps = {
  rules: readonly IngestRule[]
  isShown(rule: IngestRule): boolean
  /** Whether all are shown: only then an order can be set. */
  isWhole: boolean
  datasetsOf(rule: IngestRule): string
  acted: Acted
}

/** The rules; an order is set by dragging a row, or by the arrow keys on its handle. */
function Table({ rules, isShown, isWhole, datasetsOf, acted }: TableProps) {
  const client = useClient()
  const canOrder = useMay()('ingest_rules_write') && rules.length > 1 && isWhole
  const [dragged, setDragged] = useState<number>()
  const [over, setOver] = useState<number>()
  const order = useSave((ids: string[]) => client.ingestRules.reorder({ body: { rule_ids: ids } }), { stale: [INGEST_RULES] })
  const move = (from: number, to: number) => {
    if (to < 0 || to >= rules.length || to === from) return
    order.mutate(moved(rules, from, to).map(({ id }) => id))
  }
  return (
    <>
      {order.error && <FailureNote thrown={order.error} />}
      <RecordTable label="Ingest rules" rowCount={0} className="rounded-md border border-line bg-panel">
        <table aria-label="Ingest rules" className="w-full max-sm:block">
          <thead className="text-left text-soft text-xs">
            <tr className="max-sm:hidden">
              <th className="w-10 px-2 py-2 font-medium">
                <span className="sr-only">Order</span>
              </th>
              <th className="px-3 py-2 font-medium">Rule</th>
              <th className="px-3 py-2 font-medium max-md:hidden">Events</th>
              <th className="whitespace-nowrap px-3 py-2 text-right font-medium max-sm:hidden">Last day</th>
              <th className="px-3 py-2">
                <span className="sr-only">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody className="max-sm:block">
            {rules.map(
              (rule, at) =>
                isShown(rule) && (
                  <RuleRow
                    key={rule.id}
                    rule={rule}
                    acted={acted === undefined ? undefined : Number(acted[rule.id] ?? 0)}
                    datasets={datasetsOf(rule)}
                    handle={
                      canOrder && (
                        <button
                          type="button"
                          draggable
                          aria-label={`Move ${rule.name}, ${at + 1} of ${rules.length}`}
                          title="Drag, or press the arrow keys, to change the order"
                          disabled={order.isPending}
                          className="inline-flex size-6.5 cursor-grab items-center justify-center rounded text-soft hover:bg-tint hover:text-ink"
                          onDragStart={() => setDragged(at)}
                          onDragEnd={() => {
                            setDragged(undefined)
                            setOver(undefined)
                          }}
                          onKeyDown={(event) => {
                            const to = { ArrowUp: at - 1, ArrowDown: at + 1 }[event.key]
                            if (to === undefined) return
                            event.preventDefault()
                            move(at, to)
                          }}
                        >
                          <Icon of={GripVertical} />
                        </button>
                      )
                    }
                    mark={
                      dragged === undefined || over !== at || dragged === at
                        ? ''
                        : dragged < at
                          ? 'border-b-2 border-b-accent'
                          : 'border-t-2 border-t-accent'
                    }
                    onOver={dragged === undefined ? undefined : () => setOver(at)}
                    onDrop={() => {
                      if (dragged !== undefined) move(dragged, at)
                    }}
                  />
                ),
            )}
          </tbody>
        </table>
      </RecordTable>
    </>
  )
}

const selectorText = (selector = EVERYTHING): string => (selector.trim() === EVERYTHING ? 'all datasets' : selector)

type RuleRowProps = {
  rule: IngestRule
  acted: number | undefined
  datasets: string
  handle: React.ReactNode
  mark: string
  onOver: (() => void) | undefined
  onDrop(): void
}

function RuleRow({ rule, acted, datasets, handle, mark, onOver, onDrop }: RuleRowProps) {
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  const { id, name, description, enabled, action, where, version, metadata } = rule
  const params = { ruleId: id }
  const toggle = useSave(() => client.ingestRules.update({ params, body: { enabled: !enabled } }), { stale: [INGEST_RULES] })
  const remove = useSave(() => client.ingestRules.remove({ params }), { stale: [INGEST_RULES] })
  return (
    <>
      <tr
        className={`border-line border-t align-top max-sm:grid max-sm:grid-cols-[auto_minmax(0,1fr)] max-sm:first:border-t-0 ${mark}`}
        onDragOver={(event) => {
          if (!onOver) return
          event.preventDefault()
          onOver()
        }}
        onDrop={onDrop}
      >
        <td className="px-2 py-1.5">{handle}</td>
        <td className="wrap-anywhere px-3 py-1.5">
          <span className={`font-medium ${enabled ? '' : 'text-soft'}`}>{name}</span>
          {!enabled && <span className="ml-2 rounded bg-sunk px-1 text-soft text-xs">disabled</span>}
          <span className="block">{actionText(action)}</span>
          {description && <span className="block text-soft text-xs">{description}</span>}
          <span className="block text-soft text-xs md:hidden">
            {datasets} {where && <code className="font-mono">{where}</code>}
          </span>
          <span className="block text-soft text-xs sm:hidden">{actedText(acted)}</span>
        </td>
        <td className="wrap-anywhere px-3 py-1.5 max-md:hidden">
          {datasets}
          {where && <code className="block font-mono text-soft text-xs">{where}</code>}
        </td>
        <td className="whitespace-nowrap px-3 py-1.5 text-right tabular-nums max-sm:hidden">{acted === undefined ? '' : count(acted)}</td>
        <td className="px-3 py-1 max-sm:col-start-2 max-sm:pb-2">
          <span className="flex justify-end gap-1 max-lg:flex-wrap max-sm:justify-start">
            <Permitted to="ingest_rules_write">
              <Button
                size="small"
                aria-label={`${enabled ? 'Disable' : 'Enable'} ${name}`}
                disabled={toggle.isPending}
                onClick={() => toggle.mutate()}
              >
                {enabled ? 'Disable' : 'Enable'}
              </Button>
              <Link to="/data" search={{ rules: true, rule: id }} aria-label={`Edit ${name}`} className={buttonClass({ size: 'small' })}>
                Edit
              </Link>
            </Permitted>
            <Button
              size="small"
              aria-label={`Version ${version} of ${name}, and earlier ones`}
              aria-expanded={isOpen}
              title={`Show all versions; changed ${ago(metadata.modified_at ?? metadata.created_at ?? Date.now(), Date.now())}`}
              onClick={() => setOpen(!isOpen)}
            >
              Version {version}
            </Button>
            <Confirm
              size="small"
              action="Delete"
              needs="ingest_rules_delete"
              label={`Delete ${name}`}
              message={`Delete the rule ${name}? Events that arrive from then on are stored without it; stored events stay as they are.`}
              onYes={() => remove.mutateAsync()}
            />
          </span>
        </td>
      </tr>
      {(isOpen || toggle.error) && (
        <tr className="max-sm:block">
          <td colSpan={5} className="bg-sunk max-sm:block">
            {toggle.error && <FailureNote thrown={toggle.error} />}
            {isOpen && <RuleVersions id={id} />}
          </td>
        </tr>
      )}
    </>
  )
}

const actedText = (acted: number | undefined): string => (acted === undefined ? '' : `${quantity(acted, 'event')} in the last day`)
