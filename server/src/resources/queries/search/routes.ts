import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { Searches } from './running.ts'
import { runSearch } from './search.ts'

/** The default selection of a search by GET. */
const SELECT_ON_GET = ['*', '@raw']

export const searchRoutes = (world: World, searches: Searches): Routes =>
  routes('search', contract.search, {
    get: ({ actor, query, signal }) => {
      const select = query.select?.length ? query.select : SELECT_ON_GET
      return runSearch(world, searches, actor, { ...query, select }, signal)
    },
    run: ({ actor, body, signal }) => {
      const select = body.explain_only && !body.select?.length ? ['*'] : body.select
      return runSearch(world, searches, actor, { ...body, select }, signal)
    },
    status: ({ actor, params }) => searches.status(actor, params.statusId),
    cancel: ({ actor, params }) => searches.cancel(actor, params.statusId),
  })
