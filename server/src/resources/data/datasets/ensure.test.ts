import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp()
})
afterAll(() => app.close())

test('concurrent first posts to a new dataset create it once', async () => {
  const org = await app.newOrganization()
  const headers = { 'x-service-collection': 'crowd', 'x-service-dataset': 'one' }
  const posts = Array.from({ length: 150 }, (_, n) =>
    org.ask('POST', '/ingest', { headers, raw: JSON.stringify({ message: `post ${n}` }) }),
  )
  expect(new Set((await Promise.all(posts)).map(({ status }) => status))).toEqual(new Set([200]))
  const { body } = await org.ask<{ datasets: { dataset: string }[] }>('GET', "/datasets?from_expr=collection='crowd'")
  expect(body.datasets.map(({ dataset }) => dataset)).toEqual(['one'])
})
