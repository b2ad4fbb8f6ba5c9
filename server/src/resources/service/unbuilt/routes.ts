import { type ContractGroup, contract, type Endpoint } from '@dendro/api'
import { z } from 'zod'
import { type Routes, routes } from '../../../http/mount.ts'
import { notBuilt } from '../../../kernel/errors.ts'

/** absentRoutes answer for what the service does not do yet: lists are empty, all else is 501 with the reason from the contract. */
export const absentRoutes = (): readonly Routes[] => [
  absent('forwardConfigs', contract.forwardConfigs),
  absent('insights', contract.insights),
  absent('sso', contract.sso),
]

const absent = (name: string, group: ContractGroup): Routes =>
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

/** emptyReply is the list of an endpoint, under its name, without entries. */
function emptyReply({ reply }: Endpoint): Record<string, never[]> {
  if (!(reply instanceof z.ZodObject)) throw new Error('a list that is always empty needs a reply with the name of the list')
  return Object.fromEntries(Object.keys(reply.shape).map((name) => [name, []]))
}
