import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { signOutOtherTabs } from '../session/other-tabs.ts'
import { forgetCredential } from '../session/session.ts'
import { Button } from '../ui/button.tsx'
import { useClient } from './client.ts'
import { Commands } from './commands.tsx'
import { useMe } from './me.ts'
import { useScrollToCurrent } from './scroll-to-current.ts'
import { applyTheme, storedTheme, type Theme } from './theme.ts'

const pages = [
  { to: '/explore', name: 'Explore' },
  { to: '/dashboards', name: 'Dashboards' },
  { to: '/monitors', name: 'Monitors' },
  { to: '/exports', name: 'Exports' },
  { to: '/data', name: 'Data' },
  { to: '/usage', name: 'Usage' },
  { to: '/settings', name: 'Settings' },
] as const

/** REFERENCE is the API reference, which the service renders itself. */
const REFERENCE = '/docs'

/** Frame is the layout around every page: navigation, theme and account. */
export function Frame() {
  const navigate = useNavigate()
  const { pathname } = useLocation()
  const row = useScrollToCurrent(pathname)
  const isInDowntimes = pathname.endsWith('/downtimes')
  const [theme, setTheme] = useState(storedTheme)
  const pickTheme = (next: Theme) => {
    applyTheme(next)
    setTheme(next)
  }
  const commands = [
    ...pages.map(({ to, name }) => ({ group: 'Go to', name, run: () => navigate({ to, search: {} }) })),
    { group: 'Go to', name: 'API', run: () => location.assign(REFERENCE) },
    ...themeNames.map((name) => ({ group: 'Theme', name: `${name[0]?.toUpperCase()}${name.slice(1)}`, run: () => pickTheme(name) })),
  ]
  return (
    <Commands own={commands}>
      <div className="flex h-full flex-col">
        <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-panel focus:p-2">
          Skip to content
        </a>
        <header className="flex min-h-11 shrink-0 flex-wrap items-center gap-x-4 border-line border-b bg-panel px-3">
          <Link to="/explore" search={{}} className="flex items-center gap-2 font-semibold">
            <img src="/docs/icon.svg" alt="" width="20" height="20" />
            <span className="max-sm:sr-only">Dendro</span>
          </Link>
          <nav
            ref={row}
            aria-label="Pages"
            className="flex min-w-0 items-center gap-1 overflow-x-auto max-lg:order-last max-lg:w-full max-lg:pb-1"
          >
            {pages.map(({ to, name }) => (
              <Link
                key={to}
                to={to}
                search={{}}
                aria-current={to === '/monitors' && isInDowntimes ? 'page' : undefined}
                className="rounded px-2 py-1 text-soft hover:text-ink aria-[current=page]:bg-tint aria-[current=page]:text-ink"
              >
                {name}
              </Link>
            ))}
            <a href={REFERENCE} className="rounded px-2 py-1 text-soft hover:text-ink">
              API
            </a>
          </nav>
          <div className="ml-auto flex items-center gap-2">
            <ThemeButton theme={theme} onPick={pickTheme} />
            <Account />
          </div>
        </header>
        <main id="page" className="min-h-0 flex-1">
          <Outlet />
        </main>
      </div>
    </Commands>
  )
}

const themes: Record<Theme, { next: Theme; sign: string }> = {
  system: { next: 'light', sign: '◐' },
  light: { next: 'dark', sign: '○' },
  dark: { next: 'system', sign: '●' },
}

const themeNames = ['system', 'light', 'dark'] as const satisfies readonly Theme[]

function ThemeButton({ theme, onPick }: { theme: Theme; onPick(theme: Theme): void }) {
  const { next, sign } = themes[theme]
  return (
    <Button
      variant="quiet"
      onClick={() => onPick(next)}
      title={`Theme: ${theme}. Change to ${next}.`}
      aria-label={`Theme ${theme}, change to ${next}`}
    >
      {sign}
    </Button>
  )
}

function Account() {
  const client = useClient()
  const navigate = useNavigate()
  const me = useMe()
  const name = me.data?.user?.email ?? me.data?.api_key?.name
  const signOut = async () => {
    if (me.data?.type === 'USER_ID') await client.auth.logout().catch(() => undefined)
    forgetCredential()
    signOutOtherTabs()
    await navigate({ to: '/sign-in', search: {} })
    location.reload()
  }
  return (
    <>
      {/* The fixed width keeps the layout stable while the name loads. */}
      <Link
        to="/settings"
        search={{ part: 'you' }}
        aria-label={name ?? 'You'}
        className="order-first w-48 truncate text-right text-soft hover:text-ink max-md:hidden"
      >
        {name}
      </Link>
      <Button variant="quiet" onClick={signOut}>
        Sign out
      </Button>
    </>
  )
}
