import { NoResponse } from '@dendro/api/client'
import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  Link,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { readDashboardParams } from './pages/dashboards/params.ts'
import { readDataParams } from './pages/data/params.ts'
import { readDowntimeParams } from './pages/downtimes/params.ts'
import { ExplorePage } from './pages/explore/explore.tsx'
import { readExploreParams } from './pages/explore/explore-params.ts'
import { readMonitorParams } from './pages/monitors/params.ts'
import { readNotebookParams } from './pages/notebooks/params.ts'
import { readSettingsParams } from './pages/settings/params.ts'
import { readSpendParams } from './pages/spend/params.ts'
import { readTraceParams } from './pages/traces/params.ts'
import { readUsageParams } from './pages/usage/params.ts'
import { CopyNotices } from './parts/shell/copy-notices.tsx'
import { FailureNote } from './parts/shell/failure.tsx'
import { Frame } from './parts/shell/frame.tsx'
import { EmptyState, Page } from './parts/shell/page.tsx'
import { loadCode, reloadWhenAnswered } from './parts/shell/page-code.ts'
import { oneOf, readParams, strictly, text } from './parts/shell/search-params.ts'
import { takeFromOtherTab } from './session/other-tabs.ts'
import { keptCredential } from './session/session.ts'
import { buttonClass } from './ui/button.tsx'

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <CopyNotices />
    </>
  ),
})

/** A link within the app, so that a sign-in never leads elsewhere. */
const pageLink = (value: unknown): string | undefined => (typeof value === 'string' && /^\/app\/[a-z]/.test(value) ? value : undefined)

const readSignInParams = (search: Record<string, unknown>) => readParams({ back: pageLink, way: oneOf(['password']) }, search)
const readApiParams = (search: Record<string, unknown>) => readParams({ op: text }, search)

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/sign-in/sign-in.tsx')), 'SignInPage'),
  validateSearch: strictly(readSignInParams),
})

const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitation',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/sign-in/invitation.tsx')), 'InvitationPage'),
})

/** Pages inside need a credential; the requested link is kept for after sign-in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'inside',
  component: Frame,
  beforeLoad: async ({ location }) => {
    if (keptCredential()) return
    const back = `/app${location.href}`
    if (!(await takeFromOtherTab(() => globalThis.location.assign(back)))) throw redirect({ to: '/sign-in', search: { back } })
  },
})

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/explore', search: {} })
  },
})

const explore = createRoute({
  getParentRoute: () => signedIn,
  path: '/explore',
  component: ExplorePage,
  validateSearch: strictly(readExploreParams),
})
const monitors = createRoute({
  getParentRoute: () => signedIn,
  path: '/monitors',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/monitors/monitors.tsx')), 'MonitorsPage'),
  validateSearch: strictly(readMonitorParams),
})
const downtimes = createRoute({
  getParentRoute: () => signedIn,
  path: '/downtimes',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/downtimes/downtimes.tsx')), 'DowntimesPage'),
  validateSearch: strictly(readDowntimeParams),
})
const dashboards = createRoute({
  getParentRoute: () => signedIn,
  path: '/dashboards',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/dashboards/dashboards.tsx')), 'DashboardsPage'),
  validateSearch: strictly(readDashboardParams),
})
const dataExports = createRoute({
  getParentRoute: () => signedIn,
  path: '/exports',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/exports/exports.tsx')), 'ExportsPage'),
})
const notebooks = createRoute({
  getParentRoute: () => signedIn,
  path: '/notebooks',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/notebooks/notebooks.tsx')), 'NotebooksPage'),
  validateSearch: strictly(readNotebookParams),
})
const insights = createRoute({
  getParentRoute: () => signedIn,
  path: '/insights',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/insights/insights.tsx')), 'InsightsPage'),
})
const usage = createRoute({
  getParentRoute: () => signedIn,
  path: '/usage',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/usage/usage.tsx')), 'UsagePage'),
  validateSearch: strictly(readUsageParams),
})
const spend = createRoute({
  getParentRoute: () => signedIn,
  path: '/spend',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/spend/spend.tsx')), 'SpendPage'),
  validateSearch: strictly(readSpendParams),
})
const traces = createRoute({
  getParentRoute: () => signedIn,
  path: '/traces',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/traces/traces.tsx')), 'TracesPage'),
  validateSearch: strictly(readTraceParams),
})
const data = createRoute({
  getParentRoute: () => signedIn,
  path: '/data',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/data/data.tsx')), 'DataPage'),
  validateSearch: strictly(readDataParams),
})
const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/settings/settings.tsx')), 'SettingsPage'),
  validateSearch: strictly(readSettingsParams),
})
/** Older links to an operation lead to its article in the API reference. */
const api = createRoute({
  getParentRoute: () => root,
  path: '/api',
  validateSearch: strictly(readApiParams),
  beforeLoad: ({ search: { op = '' } }: { search: ReturnType<typeof readApiParams> }) => {
    throw redirect({ href: `/docs#${encodeURIComponent(op)}`, reloadDocument: true, replace: true })
  },
})
const welcome = createRoute({
  getParentRoute: () => signedIn,
  path: '/welcome',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/welcome/welcome.tsx')), 'WelcomePage'),
})

/** The page of all components, for development: it is loaded alone, and nothing links to it. */
const kit = createRoute({
  getParentRoute: () => signedIn,
  path: '/_kit',
  component: lazyRouteComponent(() => loadCode(() => import('./pages/kit/kit.tsx')), 'KitPage'),
})

/** Any other address, within the frame so that all pages are one click away. */
const unknown = createRoute({ getParentRoute: () => signedIn, path: '$', component: NotFound })

export const router = createRouter({
  routeTree: root.addChildren([
    home,
    signIn,
    invitation,
    api,
    signedIn.addChildren([
      explore,
      dashboards,
      monitors,
      downtimes,
      dataExports,
      data,
      insights,
      notebooks,
      usage,
      spend,
      traces,
      settings,
      welcome,
      kit,
      unknown,
    ]),
  ]),
  basepath: '/app',
  defaultPreload: false,
  defaultErrorComponent: FailedPage,
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

/** Replaces a page that threw an error; the frame around it stays. */
function FailedPage({ error, reset }: ErrorComponentProps) {
  const isUnloaded = error instanceof NoResponse
  return (
    <Page title={isUnloaded ? 'This page could not be loaded' : 'This page has failed'}>
      <FailureNote thrown={error} again={isUnloaded ? reloadWhenAnswered : reset} />
    </Page>
  )
}

function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState title="No page has this address">
        <p className="text-soft">It may be outdated or mistyped.</p>
        <Link to="/explore" search={{}} className={buttonClass({ variant: 'main' })}>
          Open Explore
        </Link>
      </EmptyState>
    </Page>
  )
}
