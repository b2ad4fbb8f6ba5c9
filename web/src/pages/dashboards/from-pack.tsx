import type { ContentPackMonitor, ContentPackParameter, ContentPackPreview } from '@dendro/api'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { quantity } from '../../parts/chart/numbers.ts'
import { useSettled } from '../../parts/query/settled.ts'
import { EditorPage } from '../../parts/records/editor-page.tsx'
import { useFirstTargets } from '../../parts/records/first-targets.ts'
import { FormField } from '../../parts/records/form.tsx'
import { MissingRecord } from '../../parts/records/records.tsx'
import { useSave } from '../../parts/records/save.ts'
import { TargetFields } from '../../parts/records/target-fields.tsx'
import { actionsOf, type FormTarget } from '../../parts/records/targets.ts'
import { BackToDashboards } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { Panel } from '../../parts/shell/page.tsx'
import { Permitted } from '../../parts/shell/permitted.tsx'
import { Input } from '../../ui/field.tsx'
import { PackBacktest } from './pack-backtest.tsx'
import { PackWidgets } from './pack-widgets.tsx'

type FromPackProps = { pack: string; datasetId: string }
/** Typed are the parameters that the user has changed, as texts. */
type TypedParameters = Readonly<Record<string, { type: ContentPackParameter['type']; text: string }>>

const SETTLE_MS = 500
const RANGE = 'Last 1 day'

/** Shows what a content pack creates for a dataset, lets the user change its parameters, and creates it. */
export function FromPack({ pack, datasetId }: FromPackProps) {
  const client = useClient()
  const navigate = useNavigate()
  const first = useFirstTargets()
  const [typed, setTyped] = useState<TypedParameters>({})
  const [chosen, setChosen] = useState<readonly string[]>([])
  const [edited, setEdited] = useState<readonly FormTarget[]>()
  const targets = edited ?? first ?? []
  const settled = useSettled(typed, SETTLE_MS)
  const read = useQuery({
    queryKey: ['content packs', 'preview', pack, datasetId, settled],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      client.contentPacks.preview({
        params: { packId: pack },
        body: { dataset_id: datasetId, parameters: givenParameters(settled), time_range: RANGE },
        signal,
        repeatable: true,
      }),
  })
  const preview = read.data
  const isNewDashboard = preview !== undefined && preview.dashboard.dashboard_id === undefined && preview.dashboard.widgets.length > 0
  const monitors = preview?.monitors.filter(({ id, monitor_id }) => chosen.includes(id) && monitor_id === undefined) ?? []
  const actions = actionsOf(targets)
  const create = useSave(
    () =>
      client.contentPacks.install({
        params: { packId: pack },
        body: {
          dataset_id: datasetId,
          parameters: givenParameters(typed),
          dashboard: isNewDashboard,
          monitors: monitors.map(({ id }) => id),
          ...(monitors.length > 0 ? { actions } : {}),
        },
      }),
    {
      stale: [['content packs'], ['dashboards'], ['widgets'], ['metric definitions'], ['monitors']],
      onSaved: ({ dashboard }) =>
        dashboard ? navigate({ to: '/dashboards', search: { id: dashboard.id } }) : navigate({ to: '/monitors', search: {} }),
    },
  )
  if (!preview) return <MissingRecord title="Ready-made dashboard" noun="content pack" of={read} back={<BackToDashboards />} />
  return (
    <EditorPage
      title={preview.dashboard.name}
      action={actionText(isNewDashboard, monitors.length)}
      needs="dashboards_write"
      missing={missingFrom({ preview, isNewDashboard, monitors, actions })}
      isSending={create.isPending}
      failure={create.error}
      back={<BackToDashboards />}
      cancel={
        <Link to="/dashboards" search={{}}>
          Cancel
        </Link>
      }
      onSend={() => create.mutate()}
      preview={<PackWidgets preview={preview} range={RANGE} isOld={read.isPlaceholderData || settled !== typed} />}
    >
      {read.error && <FailureNote thrown={read.error} again={() => read.refetch()} />}
      <Panel title="Parameters">
        <div className="grid gap-3 p-3 sm:grid-cols-2">
          {preview.parameters.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              typed={typed[parameter.name]?.text}
              onType={(text) => setTyped((now) => ({ ...now, [parameter.name]: { type: parameter.type, text } }))}
            />
          ))}
        </div>
      </Panel>
      <Permitted to="monitors_write">
        <Panel title="Monitors">
          <ul className="divide-y divide-line">
            {preview.monitors.map((monitor) => (
              <MonitorChoice
                key={monitor.id}
                monitor={monitor}
                isChosen={chosen.includes(monitor.id)}
                onToggle={() =>
                  setChosen((now) => (now.includes(monitor.id) ? now.filter((id) => id !== monitor.id) : [...now, monitor.id]))
                }
              />
            ))}
          </ul>
          {preview.monitors.length === 0 && <p className="p-3 text-soft">No monitor of this kind fits the fields of the dataset.</p>}
          {monitors.length > 0 && (
            <fieldset className="flex flex-col gap-3 border-line border-t p-3">
              <legend className="sr-only">Recipients</legend>
              <TargetFields targets={targets} onChange={setEdited} />
            </fieldset>
          )}
        </Panel>
      </Permitted>
      <NotIncluded preview={preview} />
    </EditorPage>
  )
}

/** The changed parameters in the form of the API. A number that is not complete is left out. */
const givenParameters = (typed: TypedParameters): Record<string, string | number> =>
  Object.fromEntries(
    Object.entries(typed).flatMap(([name, { type, text }]): [string, string | number][] => {
      if (type === 'FIELD') return [[name, text]]
      return text.trim() === '' || Number.isNaN(Number(text)) ? [] : [[name, Number(text)]]
    }),
  )

type MissingProps = {
  preview: ContentPackPreview
  isNewDashboard: boolean
  monitors: readonly ContentPackMonitor[]
  actions: readonly FormTarget[]
}

function missingFrom({ preview, isNewDashboard, monitors, actions }: MissingProps): string | undefined {
  if (monitors.length > 0 && actions.length === 0) return 'a recipient'
  if (isNewDashboard || monitors.length > 0) return undefined
  return preview.dashboard.dashboard_id === undefined ? 'a field that the dashboard needs' : 'a monitor; the dashboard exists'
}

function actionText(isNewDashboard: boolean, monitors: number): string {
  const chosen = monitors === 0 ? [] : [quantity(monitors, 'monitor')]
  return `Create ${[...(isNewDashboard || monitors === 0 ? ['dashboard'] : []), ...chosen].join(' and ')}`
}

type ParameterFieldProps = { parameter: ContentPackParameter; typed: string | undefined; onType(text: string): void }

function ParameterField({ parameter, typed, onType }: ParameterFieldProps) {
  const { name, label, type, value, unit, candidates } = parameter
  const list = `fields for ${name}`.replaceAll(' ', '-')
  const named = unit === undefined ? label : `${label} (${unit})`
  return (
    <FormField name={named} of={`parameters.${name}`}>
      <Input
        value={typed ?? (value === null ? '' : String(value))}
        {...(type === 'NUMBER' ? { type: 'number', step: 'any', required: true } : { list, placeholder: 'No such field' })}
        onChange={(event) => onType(event.target.value)}
      />
      {type === 'FIELD' && (
        <datalist id={list}>
          {candidates.map((field) => (
            <option key={field} value={field} />
          ))}
        </datalist>
      )}
    </FormField>
  )
}

type MonitorChoiceProps = { monitor: ContentPackMonitor; isChosen: boolean; onToggle(): void }

function MonitorChoice({ monitor: { id, name, monitor_id, rule }, isChosen, onToggle }: MonitorChoiceProps) {
  return (
    <li className="flex items-start gap-3 px-3 py-2">
      {monitor_id === undefined && <input type="checkbox" id={`monitor-${id}`} className="mt-1" checked={isChosen} onChange={onToggle} />}
      <div className="min-w-0 flex-1">
        {monitor_id === undefined ? (
          <label htmlFor={`monitor-${id}`} className="break-words font-medium">
            {name}
          </label>
        ) : (
          <Link to="/monitors" search={{ id: monitor_id }} className="break-words text-accent underline">
            {name}
          </Link>
        )}
        <p className="break-words text-soft text-xs">{rule.description}</p>
        {monitor_id === undefined ? <PackBacktest rule={rule} /> : <p className="text-xs">Exists already.</p>}
      </div>
    </li>
  )
}

/** Names the widgets and monitors that the fields of the dataset do not allow. */
function NotIncluded({ preview: { left_out } }: { preview: ContentPackPreview }) {
  if (left_out.length === 0) return null
  return (
    <Panel title="Not included">
      <ul className="flex flex-col gap-1 p-3 text-xs">
        {left_out.map(({ kind, name, reason }) => (
          <li key={`${kind} ${name}`} className="break-words">
            <span className="font-medium">{name}</span> <span className="text-soft">{reason}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
