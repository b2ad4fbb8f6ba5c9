import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import {
  BellRing,
  BookOpen,
  ChartColumn,
  Database,
  Download,
  LayoutDashboard,
  LogOut,
  type LucideIcon,
  Menu,
  Moon,
  NotebookText,
  Search,
  Settings,
  Sun,
  SunMoon,
  Waypoints,
} from 'lucide-react'
import { useState } from 'react'
import { signOutOtherTabs } from '../../session/other-tabs.ts'
import { forgetCredential } from '../../session/session.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'
import { offsetText, zoneText } from '../time/time-range.ts'
import { useZone } from '../time/zone.ts'
import { useClient } from './client.ts'
import { Commands } from './commands.tsx'
import { useMe } from './me.ts'
import { applyTheme, storedTheme, type Theme } from './theme.ts'

const pages = [
  { to: '/explore', name: 'Explore', icon: Search },
  { to: '/traces', name: 'Traces', icon: Waypoints },
  { to: '/dashboards', name: 'Dashboards', icon: LayoutDashboard },
  { to: '/notebooks', name: 'Notebooks', icon: NotebookText },
  { to: '/monitors', name: 'Monitors', icon: BellRing },
  { to: '/exports', name: 'Exports', icon: Download },
  { to: '/data', name: 'Data', icon: Database },
  { to: '/usage', name: 'Usage', icon: ChartColumn },
  { to: '/settings', name: 'Settings', icon: Settings },
] as const

/** within are pages that belong to another one. */
const within: ReadonlyMap<string, string> = new Map([
  ['/monitors', '/downtimes'],
  ['/data', '/insights'],
  ['/usage', '/spend'],
])

/** The API reference, which the service renders itself. */
const REFERENCE = '/docs'

/** The layout around every page: navigation, theme and account. */
export function Frame() {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const [theme, setTheme] = useState(storedTheme)
  const pickTheme = (next: Theme) => {
    applyTheme(next)
    setTheme(next)
  }
  const commands = [
    ...pages.map(({ to, name }) => ({ group: 'Go to', name, run: () => navigate({ to, search: {} }) })),
    { group: 'Go to', name: 'Insights', run: () => navigate({ to: '/insights' }) },
    { group: 'Go to', name: 'API', run: () => location.assign(REFERENCE) },
    ...themeNames.map((name) => ({ group: 'Theme', name: `${name[0]?.toUpperCase()}${name.slice(1)}`, run: () => pickTheme(name) })),
  ]
  return (
    <Commands own={commands}>
      <div className="flex h-full flex-col">
        <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
          Skip to content
        </a>
        <header className="flex h-10 shrink-0 items-center gap-x-3 border-line border-b bg-panel px-3 lg:h-11">
          <PagesMenu theme={theme} onTheme={pickTheme} />
          <Link to="/explore" search={{}} className="flex items-center gap-2 font-semibold">
            <img src="/docs/icon.svg" alt="" width="20" height="20" />
            <span className="max-lg:sr-only">Dendro</span>
          </Link>
          {/* Not a text of the page, whose heading says the same. */}
          <span
            aria-hidden
            data-page={pages.find(({ to }) => pathname.endsWith(to) || pathname.endsWith(within.get(to) ?? to))?.name ?? 'Dendro'}
            className="min-w-0 truncate font-medium before:content-[attr(data-page)] lg:hidden"
          />
          <nav aria-label="Pages" className="flex min-w-0 items-center gap-1 max-lg:hidden">
            <PageLinks />
          </nav>
          <div className="ml-auto flex items-center gap-1">
            <span className="contents max-lg:hidden">
              <AccountLink />
            </span>
            <ZoneButton />
            <span className="contents max-lg:hidden">
              <ThemeButton theme={theme} onPick={pickTheme} />
              <SignOut />
            </span>
          </div>
        </header>
        <main id="page" className="min-h-0 flex-1">
          <Outlet />
        </main>
      </div>
    </Commands>
  )
}

type PageLinksProps = { hasIcons?: boolean; onPick?(): void }

/** PageLinks lead to the pages. */
function PageLinks({ hasIcons = false, onPick }: PageLinksProps) {
  const { pathname } = useLocation()
  const style = `flex items-center gap-2 rounded px-2 text-soft hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:text-ink ${hasIcons ? 'py-1.5' : 'py-1'}`
  return (
    <>
      {pages.map(({ to, name, icon }) => (
        <Link
          key={to}
          to={to}
          search={{}}
          aria-current={within.has(to) && pathname.endsWith(within.get(to) ?? to) ? 'page' : undefined}
          className={style}
          onClick={onPick}
        >
          {hasIcons && <Icon of={icon} />}
          {name}
        </Link>
      ))}
      <a href={REFERENCE} className={style}>
        {hasIcons && <Icon of={BookOpen} />}
        API
      </a>
    </>
  )
}

/** The one menu for navigation where the window is narrow. */
function PagesMenu({ theme, onTheme }: { theme: Theme; onTheme(theme: Theme): void }) {
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Popover
      label="Menu"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button variant="quiet" aria-label="Menu" className="-ml-2 lg:hidden">
          <Icon of={Menu} />
        </Button>
      }
    >
      <nav aria-label="Pages" className="flex w-56 max-w-full flex-col">
        <PageLinks hasIcons onPick={close} />
      </nav>
      <div className="mt-1 flex items-center gap-1 border-line border-t pt-1">
        <AccountLink onPick={close} />
        <ThemeButton theme={theme} onPick={onTheme} />
        <SignOut />
      </div>
    </Popover>
  )
}

const themes: Record<Theme, { next: Theme; icon: LucideIcon }> = {
  system: { next: 'light', icon: SunMoon },
  light: { next: 'dark', icon: Sun },
  dark: { next: 'system', icon: Moon },
}

const themeNames = ['system', 'light', 'dark'] as const satisfies readonly Theme[]

function ThemeButton({ theme, onPick }: { theme: Theme; onPick(theme: Theme): void }) {
  const { next, icon } = themes[theme]
  return (
    <Button
      variant="quiet"
      onClick={() => onPick(next)}
      title={`Theme: ${theme}. Change to ${next}.`}
      aria-label={`Theme ${theme}, change to ${next}`}
    >
      <Icon of={icon} />
    </Button>
  )
}

/** ZoneButton says in which zone all times of the page are, and changes it. */
function ZoneButton() {
  const [zone, setZone] = useZone()
  const nowMs = Date.now()
  const [own, other] = zone === 'utc' ? ['UTC', zoneText(nowMs)] : [zoneText(nowMs), 'UTC']
  return (
    <Button
      variant="quiet"
      size="small"
      className="whitespace-nowrap tabular-nums"
      onClick={() => setZone(zone === 'utc' ? 'local' : 'utc')}
      title={`Times are shown in ${own}. Change to ${other}.`}
      aria-label={`Times in ${own}, change to ${other}`}
    >
      {zone === 'utc' ? 'UTC' : offsetText(nowMs)}
    </Button>
  )
}

/** AccountLink has a fixed width, which keeps the layout stable while the name loads. */
function AccountLink({ onPick }: { onPick?(): void }) {
  const me = useMe()
  const name = me.data?.user?.email ?? me.data?.api_key?.name
  return (
    <Link
      to="/settings"
      search={{ part: 'you' }}
      aria-label={name ?? 'You'}
      className="min-w-0 flex-1 truncate px-2 text-soft hover:text-ink lg:w-32 lg:flex-none xl:w-48 lg:text-right"
      onClick={onPick}
    >
      {name}
    </Link>
  )
}

/** SignOut ends the session; one that an identity provider began may end there too. */
function SignOut() {
  const client = useClient()
  const navigate = useNavigate()
  const me = useMe()
  const provider = me.data?.provider
  const leave = async (url?: string) => {
    forgetCredential()
    signOutOtherTabs()
    if (url !== undefined) return location.assign(url)
    await navigate({ to: '/sign-in', search: {} })
    location.reload()
  }
  const signOut = async () => {
    if (me.data?.type === 'USER_ID') await client.auth.logout().catch(() => undefined)
    await leave()
  }
  const signOutAtProvider = async () => leave((await client.signOn.logout().catch(() => undefined))?.url)
  const button = (
    <Button variant="quiet" title="Sign out" aria-label="Sign out" {...(provider === undefined && { onClick: signOut })}>
      <Icon of={LogOut} />
    </Button>
  )
  if (provider === undefined) return button
  return (
    <Popover label="Sign out" trigger={button}>
      <div className="flex flex-col gap-1">
        <Button variant="quiet" onClick={signOut}>
          Sign out of Dendro
        </Button>
        <Button variant="quiet" className="max-w-72" onClick={signOutAtProvider}>
          <span className="truncate">Sign out of {provider} too</span>
        </Button>
      </div>
    </Popover>
  )
}
