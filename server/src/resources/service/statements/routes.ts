import { contract } from '@dendro/api'
import { Answer, onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findStatement, listStatements, replaceStatements, showStatement } from './statements.ts'

export const statementRoutes = (world: World): Routes =>
  routes('statements', contract.statements, {
    replace: async ({ actor, body }) => {
      const { count, isNew } = await replaceStatements(world, actor, body)
      return new Answer(isNew ? 201 : 200, { count })
    },
    list: async ({ actor, query }) => ({ statements: await listStatements(world, actor, query) }),
    get: onRecord(
      ({ actor, params }) => findStatement(world, actor, params.statementId),
      ({ actor, record }) => showStatement(world, actor, record),
    ),
  })
