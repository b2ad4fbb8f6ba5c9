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

/** Leads to the pages about the data, in one menu on a narrow window. */
export function DataLinks() {
  const may = useMay()
  const shown = links.filter(({ needs }) => needs === undefined || may(needs))
  return (
    <>
      <span className="max-md:hidden">
        {shown.map(({ name, link }) => (
          <Link key={name} {...link} className="px-2 text-accent hover:underline">
            {name}
          </Link>
        ))}
      </span>
      <span className="md:hidden">
        <ActionMenu actions={shown} />
      </span>
    </>
  )
}
