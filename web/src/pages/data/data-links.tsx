import type { Permission } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { Archive, ArchiveRestore, Funnel, HardDriveDownload, Lightbulb, Send } from 'lucide-react'
import { ActionMenu, type MenuAction } from '../../parts/shell/action-menu.tsx'
import { useMay } from '../../parts/shell/permitted.tsx'

type DataLink = MenuAction & { link: object; needs?: Permission }

const links: readonly DataLink[] = [
  { name: 'Insights', note: 'What is unusual in the data', icon: Lightbulb, link: { to: '/insights', search: {} } },
  { name: 'Retention', note: 'How long events are kept', icon: Archive, link: { to: '/data', search: { keep: true } } },
  {
    name: 'Ingest rules',
    note: 'What is dropped or redacted before it is stored',
    icon: Funnel,
    link: { to: '/data', search: { rules: true } },
    needs: 'ingest_rules_read',
  },
  {
    name: 'Sources',
    note: 'From where events are fetched',
    icon: HardDriveDownload,
    link: { to: '/data', search: { sources: true } },
    needs: 'sources_read',
  },
  {
    name: 'Forwarding',
    note: 'Where events are copied to as they arrive',
    icon: Send,
    link: { to: '/data', search: { forwarding: true } },
    needs: 'forward_read',
  },
  {
    name: 'Rehydration',
    note: 'What is read back from files',
    icon: ArchiveRestore,
    link: { to: '/data', search: { rehydrations: true } },
    needs: 'sources_read',
  },
]

const usePermittedLinks = (): readonly DataLink[] => {
  const may = useMay()
  return links.filter(({ needs }) => needs === undefined || may(needs))
}

/** Leads to the pages about the data. */
export const DataLinks = () =>
  usePermittedLinks().map(({ name, link }) => (
    <Link key={name} {...link} className="px-2 text-accent hover:underline">
      {name}
    </Link>
  ))

/** The same links on a narrow window. */
export const DataLinkMenu = () => <ActionMenu actions={usePermittedLinks()} />
