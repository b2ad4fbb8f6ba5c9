import { expect, test } from 'vitest'
import { openTestApp } from '../../../../../test/support/world.ts'

test('the figures of the deployment are for administrators of the management organization alone', async () => {
  const app = await openTestApp()
  try {
    const other = await app.newOrganization()
    const refused = await other.ask<{ details: string }>('GET', '/metrics')
    expect(refused.status).toBe(403)
    expect(JSON.stringify(refused.body)).toContain('management')
    expect(JSON.stringify(refused.body)).not.toContain('dendro_')
    const reply = await app.ask<string>('GET', '/metrics', { key: app.managementKey })
    expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('dendro_events_disk_free_bytes')])
  } finally {
    await app.close()
  }
})
