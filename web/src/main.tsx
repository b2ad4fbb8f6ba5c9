import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './app.css'
import { readExploreParams } from './pages/explore/explore-params.ts'
import { prefetchEvents } from './pages/explore/query/prefetch.ts'
import { exposeStyleNonce } from './parts/shell/style-nonce.ts'
import { applyTheme, storedTheme } from './parts/shell/theme.ts'
import { router } from './router.tsx'
import { takeInvitation } from './session/invitation.ts'
import { answerOtherTabs } from './session/other-tabs.ts'
import { takeSignOnAnswer } from './session/single-sign-on.ts'

exposeStyleNonce()
applyTheme(storedTheme())
// The service serves this page at `/` and at the links of invitations too. A token does not stay in the address, where it would be bookmarked or shared.
const invitation = takeInvitation(new URL(location.href))
const answered = takeSignOnAnswer(new URL(location.href))
if (answered) history.replaceState(undefined, '', '/app/sign-in')
else if (invitation) history.replaceState(undefined, '', '/app/invitation')
else if (!location.pathname.startsWith('/app')) history.replaceState(undefined, '', '/app/')

// The API client retries as Retry-After says; other failures are shown, and the user retries.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: 30_000 } } })

if (['/app/', '/app/explore'].includes(location.pathname))
  prefetchEvents(queries, readExploreParams(router.options.parseSearch(location.search)))

answerOtherTabs(() => location.assign('/app/sign-in'))

const root = document.getElementById('app')
if (root)
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
