import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect } from '@tanstack/react-router'
import { readAsked as readAskedOfApi } from './pages/api/asked.ts'
import { readDashboardParams as readAskedOfDashboards } from './pages/dashboards/params.ts'
import { readDataParams as readAskedOfData } from './pages/data/params.ts'
import { readDowntimeParams as readAskedOfDowntimes } from './pages/downtimes/params.ts'
import { ExplorePage } from './pages/explore/explore.tsx'
import { readExploreParams } from './pages/explore/explore-params.ts'
import { readMonitorParams as readAskedOfMonitors } from './pages/monitors/params.ts'
import { readSettingsParams as readAskedOfSettings } from './pages/settings/params.ts'
import { SignInPage } from './pages/sign-in/sign-in.tsx'
import { readUsageParams as readAskedOfUsage } from './pages/usage/params.ts'
import { Frame } from './parts/frame.tsx'
import { keptCredential } from './session/session.ts'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: SignInPage,
  validateSearch: (search: Record<string, unknown>): { back?: string; way?: 'password' } => ({
    ...(typeof search.back === 'string' && /^\/app\/[a-z]/.test(search.back) ? { back: search.back } : {}),
    ...(search.way === 'password' ? { way: 'password' as const } : {}),
  }),
})

/** Pages inside need a credential; the requested link is kept for after sign-in. */
const inside = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Frame,
  beforeLoad: ({ location }) => {
    if (!keptCredential()) throw redirect({ to: '/sign-in', search: { back: `/app${location.href}` } })
  },
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/explore', search: {} })
  },
})

const explore = createRoute({ getParentRoute: () => inside, path: '/explore', component: ExplorePage, validateSearch: readExploreParams })
const monitors = createRoute({
  getParentRoute: () => inside,
  path: '/monitors',
  component: lazyRouteComponent(() => import('./pages/monitors/monitors.tsx'), 'MonitorsPage'),
  validateSearch: readAskedOfMonitors,
})
const downtimes = createRoute({
  getParentRoute: () => inside,
  path: '/downtimes',
  component: lazyRouteComponent(() => import('./pages/downtimes/downtimes.tsx'), 'DowntimesPage'),
  validateSearch: readAskedOfDowntimes,
})
const dashboards = createRoute({
  getParentRoute: () => inside,
  path: '/dashboards',
  component: lazyRouteComponent(() => import('./pages/dashboards/dashboards.tsx'), 'DashboardsPage'),
  validateSearch: readAskedOfDashboards,
})
const dataExports = createRoute({
  getParentRoute: () => inside,
  path: '/exports',
  component: lazyRouteComponent(() => import('./pages/exports/exports.tsx'), 'ExportsPage'),
})
const usage = createRoute({
  getParentRoute: () => inside,
  path: '/usage',
  component: lazyRouteComponent(() => import('./pages/usage/usage.tsx'), 'UsagePage'),
  validateSearch: readAskedOfUsage,
})
const data = createRoute({
  getParentRoute: () => inside,
  path: '/data',
  component: lazyRouteComponent(() => import('./pages/data/data.tsx'), 'DataPage'),
  validateSearch: readAskedOfData,
})
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
  validateSearch: readAskedOfSettings,
})
const api = createRoute({
  getParentRoute: () => inside,
  path: '/api',
  component: lazyRouteComponent(() => import('./pages/api/api.tsx'), 'ApiPage'),
  validateSearch: readAskedOfApi,
})
const welcome = createRoute({
  getParentRoute: () => inside,
  path: '/welcome',
  component: lazyRouteComponent(() => import('./pages/welcome/welcome.tsx'), 'WelcomePage'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    inside.addChildren([explore, dashboards, monitors, downtimes, dataExports, data, usage, settings, api, welcome]),
  ]),
  basepath: '/app',
  defaultPreload: false,
  defaultPendingComponent: PendingPage,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

/** PendingPage is shown while the code of a page loads. */
function PendingPage() {
  return (
    <p role="status" className="p-4 text-soft">
      Loading…
    </p>
  )
}

function NotFound() {
  return (
    <main className="p-8">
      <h1 className="text-lg font-semibold">There is no such page</h1>
      <a className="text-accent underline" href="/app/explore">
        Explore
      </a>
    </main>
  )
}
