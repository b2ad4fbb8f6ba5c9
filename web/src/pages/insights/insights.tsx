import { type Insight, readInsightText } from '@dendro/api'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import {
  BellMinus,
  BellRing,
  Braces,
  Bug,
  CircleAlert,
  CircleDollarSign,
  EyeOff,
  type LucideIcon,
  Sparkles,
  TrendingUp,
  TriangleAlert,
  Unplug,
} from 'lucide-react'
import type { MouseEvent } from 'react'
import { ago } from '../../parts/chart/numbers.ts'
import { RecordList } from '../../parts/records/records.tsx'
import { BackToDatasets } from '../../parts/shell/back-links.tsx'
import { useClient } from '../../parts/shell/client.ts'
import { FailureNote } from '../../parts/shell/failure.tsx'
import { EmptyState, Loading, Page } from '../../parts/shell/page.tsx'
import { clockOf, type Zone } from '../../parts/time/time-range.ts'
import { useZone } from '../../parts/time/zone.ts'
import { buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'

const REFRESH_MS = 60_000
/** The app is served under this path, which its own addresses leave out. */
const BASE = '/app'

/** Lists what the service found in the counts of the data, each with one action. */
export function InsightsPage() {
  const client = useClient()
  const [zone] = useZone()
  const list = useQuery({
    queryKey: ['insights'],
    queryFn: async ({ signal }) => (await client.insights.list({ signal })).insights,
    refetchInterval: REFRESH_MS,
  })
  const nowMs = Date.now()
  return (
    <Page title="Insights" back={<BackToDatasets />}>
      {list.error && <FailureNote thrown={list.error} again={() => list.refetch()} />}
      {!list.data && !list.error && <Loading />}
      {list.data?.length === 0 && (
        <EmptyState title="No insights now">
          <p className="max-w-prose text-soft">
            Every hour, the counts of each dataset are compared with the weeks before. Jumps, silent senders, new and vanished patterns,
            data that nobody reads and monitors that never or always alert are listed here. It takes a week to learn what is usual.
          </p>
          <Link to="/data" search={{}} className={buttonClass()}>
            All datasets
          </Link>
        </EmptyState>
      )}
      {list.data && list.data.length > 0 && (
        <RecordList label="Insights">
          {list.data.map((insight) => (
            <Row key={insight.id} insight={insight} zone={zone} nowMs={nowMs} />
          ))}
        </RecordList>
      )}
    </Page>
  )
}

const kinds: Record<Insight['name'], { title: string; icon: LucideIcon }> = {
  volume_jumped: { title: 'More events', icon: TrendingUp },
  errors_jumped: { title: 'More errors', icon: TriangleAlert },
  cost_jumped: { title: 'Larger events', icon: CircleDollarSign },
  sender_silent: { title: 'Silent sender', icon: Unplug },
  new_patterns: { title: 'New pattern', icon: Sparkles },
  patterns_vanished: { title: 'Vanished pattern', icon: EyeOff },
  fields_exploded: { title: 'Too many fields', icon: Braces },
  never_queried: { title: 'Unread data', icon: EyeOff },
  monitor_never_fires: { title: 'Monitor never alerts', icon: BellMinus },
  monitor_always_fires: { title: 'Monitor always alerts', icon: BellRing },
  debug_logs_received: { title: 'Debug events', icon: Bug },
  parser_config_mismatch: { title: 'Parser does not match', icon: CircleAlert },
}

function Row({ insight, zone, nowMs }: { insight: Insight; zone: Zone; nowMs: number }) {
  const { name, description, created_at } = insight
  const kind = kinds[name] ?? { title: name, icon: CircleAlert }
  const text = readInsightText(description)
  const { day, clock } = clockOf(created_at, zone)
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-2 px-3 py-2">
      <span className="grid size-7 shrink-0 place-items-center rounded bg-tint text-accent">
        <Icon of={kind.icon} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{kind.title}</span>
          {text && <span className="text-soft text-xs">{text.confidence} confidence</span>}
        </p>
        <p className="wrap-anywhere">{text?.finding ?? description}</p>
        <p className="text-soft text-xs tabular-nums">
          since {day} {clock.slice(0, 5)}, {ago(created_at, nowMs)}
        </p>
      </div>
      {text && <ActionLink label={text.action.label} link={text.action.link} />}
    </li>
  )
}

/** Leads to a page of the app without loading it again. */
function ActionLink({ label, link }: { label: string; link: string }) {
  const navigate = useNavigate()
  const open = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    void navigate({ href: link.slice(BASE.length) })
  }
  return (
    <a href={link} onClick={open} className={`${buttonClass({ size: 'small' })} max-sm:basis-full`}>
      {label}
    </a>
  )
}
