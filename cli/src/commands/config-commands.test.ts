import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  app = await openTestApp()
  folder = await mkdtemp(join(tmpdir(), 'dendro-config-'))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

type Given = Parameters<typeof runCaptured>[1]

/** Runs one command line as an organization. */
const run = (org: Pick<TestOrganization, 'key'>, words: string[], { env, ...given }: NonNullable<Given> = {}): Promise<Ran> =>
  runCaptured(words, { ...given, env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder, ...env } })

/** Writes documents into a new file and returns its path. */
async function fileWith(text: string): Promise<string> {
  const file = join(await mkdtemp(join(folder, 'files-')), 'config.yaml')
  await writeFile(file, text)
  return file
}

async function filesIn(place: string): Promise<Record<string, string>> {
  const names = (await readdir(place)).sort()
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(place, name), 'utf8')])))
}

const SECRETS = {
  SLACK_WORKSPACE_CHAT_WEBHOOK_URL: 'https://chat.example.org/hooks/7c1f',
  IDENTITY_PROVIDER_CORP_CLIENT_SECRET: 'a secret of the provider',
  WEBHOOK_PAGER_AUTHORIZATION: 'Bearer abcdef123456',
  WEBHOOK_PAGER_SIGNING_SECRET: 'seventeen otters in a canoe',
}

const COMPLETE = `
kind: dataset
collection: shop
dataset: web
tags: { env: prod, team: storefront }
retention: DAYS_90
---
kind: dataset
collection: shop.eu
dataset: web.access
---
kind: retention_rule
collection: shop
retention: DAYS_365
---
kind: retention_rule
retention: DAYS_180
---
kind: webhook
name: Pager
url: https://pager.example.org/notify
custom_headers:
  Authorization: \${WEBHOOK_PAGER_AUTHORIZATION}
signing_secret: \${WEBHOOK_PAGER_SIGNING_SECRET}
payload: '{"text": "$title", "literal": "$\${NOT_A_VARIABLE}"}'
---
kind: monitor
name: Checkout errors
comparison_operator: ABOVE
threshold: 10
window: Last 5 minutes
tags: { team: payments }
queries:
  - name: errors
    select: [count(*)]
    from: [shop.web, '"shop.eu".web.access']
    where: level = 'error'
actions:
  - email: oncall@example.org
  - integration_id: webhook/Pager
---
kind: saved_search
name: Slow requests
tags: { team: storefront }
search_details:
  from: [shop.web]
  where: ms > 500
  time_range: Last 1 hour
---
kind: slack_workspace
name: Chat
webhook_url: \${SLACK_WORKSPACE_CHAT_WEBHOOK_URL}
---
kind: slack
name: On call
workspace_id: Chat
channels: ['#oncall']
---
kind: email_template
name: Short
payload: $title
---
kind: dashboard
name: Overview
description: The shop at a glance
tags: { team: storefront }
widgets:
  - name: Traffic
    position: { x: 0, y: 0, w: 6, h: 4 }
    aux: { color: green }
    metrics:
      - name: requests
        queries:
          - { name: all, select: [count(*)], from: [shop.web] }
  - name: Group
    position: { x: 6, y: 0, w: 6, h: 4 }
    widgets:
      - name: Errors
        type: score
        position: { x: 0, y: 0, w: 3, h: 2 }
        metrics:
          - queries:
              - { name: errors, select: [count(*)], from_expr: collection = 'shop', where: level = 'error' }
            formulas:
              - { name: doubled, expression: errors * 2 }
---
kind: role
display_name: Web developer
role_type: USER
permissions: [search_read, logs_read, dashboards_read]
---
kind: policy
description: developers see the web logs only
policy_type: LOG_PERMIT
resource: { resource_type: DATASET, resource_id: shop.web }
principal: { principal_type: role, principal_id: Web developer }
actions: [read]
when:
  resources: [{ resource_type: LOG, resource_id: shop.web }]
---
kind: identity_provider
name: Corp
provider_type: OIDC
issuer_url: https://login.example.org
client_id: dendro
client_secret: \${IDENTITY_PROVIDER_CORP_CLIENT_SECRET}
identifiers: [corp.example.org]
default_roles: [ReadOnly]
---
kind: sso_mapping
provider_key: groups
provider_value: web
assign_attr: Web developer
idp: Corp
`

test('what an organization exports makes an empty organization export the same', async () => {
  const [first, second] = [await app.newOrganization(), await app.newOrganization()]
  const made = await run(first, ['apply', '-f', await fileWith(COMPLETE), '--yes'], { env: SECRETS })
  expect(made).toMatchObject({ status: 0, err: expect.stringContaining('15 changes made') })
  const one = await mkdtemp(join(folder, 'one-'))
  const exported = await run(first, ['export-config', '-o', one])
  expect(exported).toMatchObject({ status: 0, err: expect.stringContaining(Object.keys(SECRETS).sort().at(-1) ?? '') })
  const files = await filesIn(one)
  expect(files['monitors.yaml']).toContain('integration_id: webhook/Pager')
  expect(Object.values(files).join('')).not.toMatch(/otters|abcdef|hooks|a secret of|[\da-f]{8}-[\da-f]{4}-/)
  expect(await run(second, ['apply', '-f', one, '--yes'], { env: SECRETS })).toMatchObject({ status: 0 })
  const two = await mkdtemp(join(folder, 'two-'))
  await run(second, ['export-config', '-o', two])
  expect(await filesIn(two)).toEqual(files)
  const again = await run(second, ['apply', '-f', one, '--yes'], { env: SECRETS })
  expect(again).toEqual({ status: 0, out: '', err: expect.stringMatching(/^0 to create, 0 to change, 0 to delete, \d+ unchanged$/) })
})
