import type { Actor } from '../../../http/actor.ts'
import { conflict } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { type RecordKind, removeRecord } from '../../records.ts'
import { selectMonitorsUsing } from './rows.ts'

/** Deletes a record unless a monitor uses it. */
export const removeIntegration = <Row extends { readonly id: string }, Shown extends object>(
  world: World,
  actor: Actor,
  kind: RecordKind<Row, Shown>,
  record: Row,
): Promise<undefined> =>
  removeRecord(world, actor, kind, record, {
    check: async (_, tx) => {
      const naming = await selectMonitorsUsing(tx, actor.orgId, record.id)
      if (naming.length > 0) throw conflict(`in use by the monitor ${naming.map(({ name }) => `"${name}"`).join(', ')}`)
    },
  })
