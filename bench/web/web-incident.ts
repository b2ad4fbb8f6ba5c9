import type { openBrowser } from '../../test/web/browser.fixture.ts'
import { Hands, incidentEvents, investigate } from '../../test/web/incident.fixture.ts'
import { BENCH_KEY, type Service } from '../stand/service.ts'

/** The investigation of an incident from the first page to the summary for the team: its seconds and actions, without the time to read. */

const MINUTE_MS = 60_000
const CHAT = 'Webhook On call'

/** measureIncident runs in an organization of its own, whose events are those of the incident alone. */
export async function measureIncident(
  browser: Awaited<ReturnType<typeof openBrowser>>,
  { url }: Service,
): Promise<{ seconds: number; actions: number }> {
  const post = async (path: string, body: object, headers: Record<string, string>): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const admin = { 'x-service-api-key': BENCH_KEY }
  const { first_key } = (await post('/organizations', { name: `incident ${Date.now()}` }, admin)) as { first_key: string }
  const own = { 'x-service-api-key': first_key }
  await post('/integrations/webhooks', { name: 'On call', url: 'https://chat.example.org/hooks/7c1f' }, own)
  const endMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
  await post('/ingest', incidentEvents(endMs), { ...own, 'x-service-collection': 'shop', 'x-service-dataset': 'orders' })
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await context.addInitScript((key) => sessionStorage.setItem('dendro.credential', `key ${key}`), first_key)
  const page = await context.newPage()
  const startedMs = performance.now()
  await page.goto(`${url}/app/explore`)
  const hands = new Hands(page)
  await investigate(page, hands, CHAT)
  const seconds = (performance.now() - startedMs) / 1_000
  await context.close()
  return { seconds, actions: hands.actions }
}
