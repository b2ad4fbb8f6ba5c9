import { type ContractGroup, contract } from '@dendro/api'
import { notBuilt } from '../../errors.ts'
import { type Routes, routes } from '../../http/mount.ts'

/** absentRoutes answer for what the service does not do yet: the contract says why. */
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
      Object.entries(group).map(([verb, { absent: why = 'this is not there yet' }]) => [
        verb,
        async () => {
          throw notBuilt(why)
        },
      ]),
    ),
  )
