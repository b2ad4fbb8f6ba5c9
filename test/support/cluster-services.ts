import { inject } from 'vitest'
import { makeServiceDatabase } from '../../server/src/meta/database.fixture.ts'
import { openTestApp, type TestApp, type TestOrganization } from './world.ts'

/** Two services on one cluster: one that answers only with all shards, and one that leaves missing shards out. */
export type ClusterServices = { app: TestApp; lenient: TestApp; organization: TestOrganization; close(): Promise<void> }

export async function openClusterServices(url: string): Promise<ClusterServices> {
  const database = await makeServiceDatabase(inject('stores'))
  const env = { DENDRO_CLICKHOUSE_URL: url, DENDRO_POSTGRES_URL: database.url }
  const app = await openTestApp(env, undefined, undefined, { ownsEvents: false })
  const lenient = await openTestApp({ ...env, DENDRO_MISSING_SHARDS: 'skip' }, undefined, undefined, { ownsEvents: false })
  return {
    app,
    lenient,
    organization: await app.newOrganization(),
    close: async () => {
      await lenient.close()
      await app.close()
      await database.drop()
    },
  }
}
