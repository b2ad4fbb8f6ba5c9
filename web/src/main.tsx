import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './app.css'
import { readExploreParams } from './pages/explore/explore-params.ts'
import { prefetchEvents } from './pages/explore/query/prefetch.ts'
import { exposeStyleNonce } from './parts/style-nonce.ts'
import { applyTheme, storedTheme } from './parts/theme.ts'
import { router } from './router.tsx'

exposeStyleNonce()
applyTheme(storedTheme())
// The service shows this page at its root too, where people arrive who type its address.
if (!location.pathname.startsWith('/app')) history.replaceState(undefined, '', '/app/')

// A failed query shows its reason. The user repeats it, or the client does when the service sends a retry time.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, refetchOnWindowFocus: false, staleTime: 30_000 } } })

if (['/app/', '/app/explore'].includes(location.pathname))
  prefetchEvents(queries, readExploreParams(router.options.parseSearch(location.search)))

const place = document.getElementById('app')
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
