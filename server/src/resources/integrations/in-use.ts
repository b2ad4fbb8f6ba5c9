import { conflict } from '../../errors.ts'
import type { Db } from '../../meta/meta.ts'
import { selectMonitorsNaming } from './rows.ts'

/** refuseInUse keeps what monitors notify by from being deleted under them. */
export async function refuseInUse(tx: Db, orgId: string, integrationId: string): Promise<void> {
  const naming = await selectMonitorsNaming(tx, orgId, integrationId)
  if (naming.length > 0) throw conflict(`in use by the monitor ${naming.map(({ name }) => `"${name}"`).join(', ')}`)
}
