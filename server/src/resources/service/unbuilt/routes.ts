import { type ContractGroup, contract, type Endpoint } from '@dendro/api'
import { z } from 'zod'
import { type Routes, routes } from '../../../http/mount.ts'
import { notBuilt } from '../../../kernel/errors.ts'

/** Routes of a group that is not implemented: lists are empty, and the rest is 501 with the reason from the contract. */
export const unbuiltRoutes = (name: 'insights'): Routes => unbuilt(name, contract[name])

const unbuilt = (name: string, group: ContractGroup): Routes =>
  routes(
    name,
    group,
    Object.fromEntries(
      Object.entries(group).map(([verb, endpoint]) => [
        verb,
        async () => {
          if (endpoint.absent !== undefined) throw notBuilt(endpoint.absent)
          return emptyReply(endpoint) as unknown as undefined
        },
      ]),
    ),
  )

/** An empty list under the name that the endpoint uses. */
function emptyReply({ reply }: Endpoint): Record<string, never[]> {
  if (!(reply instanceof z.ZodObject)) throw new Error('an empty list needs a reply with the name of the list')
  return Object.fromEntries(Object.keys(reply.shape).map((name) => [name, []]))
}
