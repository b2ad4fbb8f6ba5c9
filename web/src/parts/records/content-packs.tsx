import type { ContentPackOffer, Permission } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { LayoutDashboard, X } from 'lucide-react'
import { useState } from 'react'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Caret } from '../../ui/caret.tsx'
import { Icon } from '../../ui/icon.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Popover } from '../../ui/popover.tsx'
import { quantity } from '../chart/numbers.ts'
import type { MenuAction } from '../shell/action-menu.tsx'
import { useClient } from '../shell/client.ts'
import { FailureNote } from '../shell/failure.tsx'
import { Panel } from '../shell/page.tsx'
import { useMay } from '../shell/permitted.tsx'
import { RecordList } from './records.tsx'

const DISMISSED_KEY = 'dendro.dismissed-offers'
const DISMISSED_MAX = 500
const SHOWN_MAX = 3

/** Loads the ready-made dashboards and monitors for one dataset, or for those that received events last. */
function useOffers(datasetId?: string) {
  const client = useClient()
  const may = useMay()
  const isPermitted = may('search_read') && may('dashboards_write')
  return useQuery({
    queryKey: ['content packs', datasetId ?? 'all'],
    enabled: isPermitted,
    queryFn: async ({ signal }) =>
      (await client.contentPacks.list({ query: datasetId === undefined ? { system: true } : { dataset_id: datasetId }, signal })).offers,
  })
}

const keyOf = ({ pack, dataset_id }: ContentPackOffer): string => `${pack} ${dataset_id}`

/** True while the dashboard of the offer does not exist. */
const isOpen = ({ dashboard_id }: ContentPackOffer): boolean => dashboard_id === undefined

/** Says what is ready: a dashboard and 3 monitors. */
function contentsOf({ dashboard_id, monitors }: ContentPackOffer): string {
  const open = monitors.filter(({ monitor_id }) => monitor_id === undefined).length
  const parts = [...(dashboard_id === undefined ? ['a dashboard'] : []), ...(open === 0 ? [] : [quantity(open, 'monitor')])]
  return parts.length === 0 ? 'created' : parts.join(' and ')
}

const isPlural = (contents: string): boolean => contents.includes(' and ') || contents.endsWith('monitors')

/** Says what was found and what is ready for it. */
function OfferLine({ offer }: { offer: ContentPackOffer }) {
  const contents = contentsOf(offer)
  return (
    <p className="min-w-0 flex-1 basis-64 break-words">
      <strong className="font-medium">{offer.name}</strong> found in{' '}
      <Link to="/data" search={{ id: offer.dataset_id }} className="text-accent underline">
        {offer.collection} / {offer.dataset}
      </Link>
      : {contents === 'created' ? 'the dashboard and the monitors exist.' : `${contents} ${isPlural(contents) ? 'are' : 'is'} ready.`}
    </p>
  )
}

const PreviewLink = ({ offer: { pack, name, dataset_id, dataset } }: { offer: ContentPackOffer }) => (
  <Link
    to="/dashboards"
    search={{ pack, of: dataset_id }}
    aria-label={`Preview ${name}: ${dataset}`}
    className={buttonClass({ size: 'small' })}
  >
    Preview
  </Link>
)

/** ContentPackOffers shows, below a list, what is ready and not dismissed in this browser. */
export function ContentPackOffers() {
  const offers = useOffers()
  const [dismissed, setDismissed] = useState(dismissedOffers)
  const open = (offers.data ?? []).filter((offer) => isOpen(offer) && !dismissed.includes(keyOf(offer)))
  if (open.length === 0) return null
  return (
    <RecordList label="Ready-made dashboards">
      {open.slice(0, SHOWN_MAX).map((offer) => (
        <li key={keyOf(offer)} className="flex flex-wrap items-center gap-2 px-3 py-2">
          <Icon of={LayoutDashboard} className="text-soft" />
          <OfferLine offer={offer} />
          <span className="flex items-center gap-2">
            <PreviewLink offer={offer} />
            <IconButton
              icon={X}
              label={`Dismiss ${offer.name}: ${offer.dataset}`}
              onClick={() => setDismissed(dismissOffer(keyOf(offer)))}
            />
          </span>
        </li>
      ))}
    </RecordList>
  )
}

/** Shows what is ready for one dataset. */
export function DatasetOffers({ datasetId }: { datasetId: string }) {
  const offers = useOffers(datasetId)
  if (!offers.data || offers.data.length === 0) return null
  return (
    <Panel title="Ready-made dashboards and monitors">
      <ul className="divide-y divide-line">
        {offers.data.map((offer) => (
          <li key={keyOf(offer)} className="flex flex-wrap items-center gap-2 px-3 py-2">
            <OfferLine offer={offer} />
            <span className="flex items-center gap-2">
              {offer.dashboard_id !== undefined && (
                <Link to="/dashboards" search={{ id: offer.dashboard_id }} className={buttonClass({ size: 'small' })}>
                  Open dashboard
                </Link>
              )}
              {contentsOf(offer) !== 'created' && <PreviewLink offer={offer} />}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

/** Opens the ready-made dashboards and monitors; on a phone they are in the menu of actions. */
export const ReadyMadeMenu = () => (
  <span className="max-sm:hidden">
    <Popover
      label="Ready-made"
      trigger={
        <Button>
          Ready-made <Caret />
        </Button>
      }
    >
      <ReadyMade />
    </Popover>
  </span>
)

/** useReadyMadeAction is the same as an entry of a menu, for who may use it. */
export function useReadyMadeAction(permission: Permission): readonly MenuAction[] {
  const may = useMay()
  if (!may(permission) || !may('dashboards_write') || !may('search_read')) return []
  return [{ name: 'Ready-made', note: 'Dashboards and monitors for known formats', icon: LayoutDashboard, panel: () => <ReadyMade /> }]
}

/** Lists every offer by format and dataset. */
function ReadyMade() {
  const offers = useOffers()
  const item = 'block rounded px-2 py-1 hover:bg-tint'
  return (
    <div className="w-72 max-w-full">
      {offers.error && <FailureNote thrown={offers.error} again={() => offers.refetch()} isSmall />}
      {offers.isLoading && (
        <p role="status" className="px-2 py-1 text-soft">
          Loading…
        </p>
      )}
      {offers.data?.length === 0 && (
        <p className="px-2 py-1 text-soft">
          Nothing yet: access logs, Kubernetes, syslog and application logs are recognized as soon as their events arrive.
        </p>
      )}
      <ul className="flex flex-col gap-1">
        {(offers.data ?? []).map((offer) => (
          <li key={keyOf(offer)}>
            <Link to="/dashboards" search={{ pack: offer.pack, of: offer.dataset_id }} className={item}>
              {offer.name}
              <span className="block break-words text-soft text-xs">
                {offer.collection} / {offer.dataset} · {contentsOf(offer)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** The offers that the user has dismissed in this browser. */
function dismissedOffers(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(DISMISSED_KEY) ?? '[]')
    return Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

function dismissOffer(key: string): string[] {
  const dismissed = [key, ...dismissedOffers().filter((one) => one !== key)].slice(0, DISMISSED_MAX)
  localStorage.setItem(DISMISSED_KEY, JSON.stringify(dismissed))
  return dismissed
}
