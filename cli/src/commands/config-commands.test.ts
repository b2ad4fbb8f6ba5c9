import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newSamlKey } from '../../../server/src/resources/access/sso/saml-provider.ts'
import { insertDatasets } from '../../../server/src/resources/data/datasets/rows.ts'
import { metadataOf } from '../../../test/support/saml-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'
import { kinds } from '../configuration/kinds.ts'

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
async function fileWith(text: string, others: Readonly<Record<string, string>> = {}): Promise<string> {
  const place = await mkdtemp(join(folder, 'files-'))
  for (const [name, content] of Object.entries({ ...others, 'config.yaml': text })) await writeFile(join(place, name), content)
  return join(place, 'config.yaml')
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

const FURTHER_SECRETS = {
  FORWARD_CONFIG_ARCHIVE_SECRET_ACCESS_KEY: 'heron-4417-lagoon',
  FORWARD_CONFIG_OTHER_SITE_AUTHORIZATION: 'Bearer marmot-9921',
  SOURCE_ORDERS_PASSWORD: 'heron-5512-reed',
}

/** A table with a mark at its beginning, line breaks of another system, and a text that looks like a variable. */
const HOSTS = '\ufeffhost,team\r\na,"shop, \u0024{TEAM}"\r\n'

const FURTHER = `---
kind: lookup_table
name: Hosts of the shop
description: Who owns which host
key: host
csv: { file: hosts.csv }
---
kind: lookup_table
name: hosts-of.the shop
key: host
csv: |
  host,team
  a,$\${NOT_A_VARIABLE}
---
kind: ingest_rule
name: Owners
from_expr: '*'
action: { type: LOOKUP, table: Hosts of the shop, key: host, columns: [team], prefix: '' }
---
kind: source
name: Orders
log_id: shop.web
origin:
  kind: KAFKA
  brokers: ["kafka.example.org:9092"]
  topic: orders
  username: dendro
  password: \${SOURCE_ORDERS_PASSWORD}
---
kind: identity_provider
name: Campus
provider_type: SAML
meta_cert: { file: campus.xml }
accept_idp_initiated: true
session_minutes: 45
attribute_mappings: [{ provider_attr: mail, user_attr: email }]
---
kind: identity_provider
name: Partner
provider_type: SAML
meta_cert: { file: campus.xml }
app_client_id: https://logs.example.org
---
kind: identity_provider
name: Staff
provider_type: OIDC
issuer_url: https://staff.example.org
client_id: dendro
client_secret: \${IDENTITY_PROVIDER_CORP_CLIENT_SECRET}
session_minutes: 30
deactivate_refused: true
---
kind: policy
description: only the events of the storefront
policy_type: ROLE_BASED
resource: { resource_type: LOG, resource_id: shop.web }
principal: { principal_type: ROLE, principal_id: Web developer }
actions: [read]
when:
  where: team = 'shop' AND ms > 5
  context:
    - { key: tenant, operator: '==', value: '' }
    - { key: shard, operator: in, value: '1,2' }
    - { key: internal, operator: '==', value: false }
unless: { where: level = 'debug' }
---
kind: policy
policy_type: CUSTOM
resource: { resource_type: LOG_SET, resource_id: shop }
principal: { principal_type: ROLE, principal_id: Web developer }
actions: ['*']
when: { context: [{ key: path, operator: like, value: /api/% }] }
---
kind: ingest_rule
name: Without addresses
description: of customers
from: [shop.web, '"shop.eu".web.access']
action: { type: REDACT, kinds: [EMAIL], expressions: [{ pattern: 'id-\\d+', ignore_case: true }], replacement: '' }
---
kind: ingest_rule
name: A tenth of the successes
enabled: false
from_expr: collection = 'shop'
where: status < 400
action: { type: SAMPLE, keep: 0.1, key: trace_id }
---
kind: ingest_rule
name: No health checks
from_expr: '*'
where: path = '/health'
action: { type: DROP }
---
kind: forward_config
name: Archive
description: for seven years
filter: level = 'error'
all_logs: false
log_ids: [shop.web]
format: NDJSON
compression: ZSTD
max_payload_size_bytes: 20000000
max_buffer_time_ms: 600000
destination:
  destination_type: S3
  bucket: logs
  path_template: ''
  storage_class: STANDARD_IA
  endpoint: https://objects.example.org
  region: eu-west-1
  access_key_id: AKEY
  secret_access_key: \${FORWARD_CONFIG_ARCHIVE_SECRET_ACCESS_KEY}
---
kind: forward_config
name: Other site
all_logs: true
compression: GZIP
destination:
  destination_type: HTTP
  url: https://logs.example.org/in
  headers:
    Authorization: \${FORWARD_CONFIG_OTHER_SITE_AUTHORIZATION}
---
kind: notebook
name: Outage of the shop
description: what we know
steps:
  - title: Where it began
    words: The bank **declines** some.
    search_details: { from: [shop.web], where: "level = 'error'", time_range: Last 1 hour }
  - words: Then it stopped.
`

async function samlMetadata(entityId: string): Promise<string> {
  return metadataOf(entityId, (await newSamlKey(Date.now())).certificate)
}

test('the export of an organization makes an empty organization export the same', async () => {
  const [first, second] = [await app.newOrganization(), await app.newOrganization()]
  const env = { ...SECRETS, ...FURTHER_SECRETS, IDENTITY_PROVIDER_STAFF_CLIENT_SECRET: 'another secret of a provider' }
  const text = COMPLETE + FURTHER
  const file = await fileWith(text, { 'campus.xml': await samlMetadata('https://campus.example.org'), 'hosts.csv': HOSTS })
  const made = await run(first, ['apply', '-f', file, '--yes'], { env })
  expect(made).toMatchObject({ status: 0, err: expect.stringContaining('30 changes made') })
  expect(await run(first, ['apply', '-f', file, '--dry-run'], { env })).toMatchObject({ status: 0, out: '' })
  const one = await mkdtemp(join(folder, 'one-'))
  const exported = await run(first, ['export-config', '-o', one])
  expect(exported.status).toBe(0)
  for (const name of Object.keys(env)) expect(exported.err).toContain(name)
  const files = await filesIn(one)
  for (const kind of kinds) expect(files[kind.file], `a document of every kind is made and exported`).toContain(`kind: ${kind.name}\n`)
  const orderIn = (documents = '') => [...documents.matchAll(/^name: (.*)$/gm)].map(([, name]) => name)
  expect(orderIn(files['ingest-rules.yaml'])).toEqual(['Owners', 'Without addresses', 'A tenth of the successes', 'No health checks'])
  expect(files['lookup-table-Hosts-of-the-shop.csv']).toBe(HOSTS)
  expect(files['lookup-table-hosts-of-the-shop-2.csv']).toBe('host,team\na,\u0024{NOT_A_VARIABLE}\n')
  expect(files['monitors.yaml']).toContain('integration_id: webhook/Pager')
  expect(Object.values(files).join('')).not.toMatch(/otters|abcdef|hooks|a secret of|heron|marmot|[\da-f]{8}-[\da-f]{4}-/)
  expect(await run(second, ['apply', '-f', one, '--yes'], { env })).toMatchObject({ status: 0 })
  const two = await mkdtemp(join(folder, 'two-'))
  await run(second, ['export-config', '-o', two])
  expect(await filesIn(two)).toEqual(files)
  const again = await run(second, ['apply', '-f', one, '--yes'], { env })
  expect(again).toEqual({ status: 0, out: '', err: expect.stringMatching(/^0 to create, 0 to change, 0 to delete, \d+ unchanged$/) })
})

test('every kind is changed in place, and pruned in an order that the service accepts', async () => {
  const org = await organizationWith(COMPLETE, SECRETS)
  const replacements: [string, string][] = [
    ['retention: DAYS_365', 'retention: DAYS_730'],
    ['retention: DAYS_180', 'retention: DAYS_30'],
    ['signing_secret: \u0024{WEBHOOK_PAGER_SIGNING_SECRET}\n', ''],
    ['payload: $title', 'payload: "Alert: $title"'],
    ["channels: ['#oncall']", "channels: ['#oncall', '#web']"],
    ['tags: { team: payments }', 'description: Failed payments\ntags: { team: billing, env: prod }'],
    ['name: Slow requests\ntags: { team: storefront }', 'name: Slow requests\ndescription: Slower than a second'],
    ['  from: [shop.web]\n  where: ms > 500', '  from: [shop.web]\n  where: ms > 1000'],
    ['description: The shop at a glance\n', ''],
    ['permissions: [search_read, logs_read, dashboards_read]', 'description: Reads logs\npermissions: [search_read, logs_read]'],
    ['actions: [read]', 'actions: [search]'],
    ['identifiers: [corp.example.org]\ndefault_roles: [ReadOnly]', 'scopes: groups\ndefault_roles: [Web developer]'],
  ]
  const edited = replacements.reduce((text, [before, after]) => {
    expect(text).toContain(before)
    return text.replace(before, after)
  }, COMPLETE)
  const file = await fileWith(edited)
  const changed = await run(org, ['apply', '-f', file, '--yes'], { env: SECRETS })
  expect(changed).toMatchObject({ status: 0, err: expect.stringContaining('0 to create, 11 to change, 0 to delete') })
  const again = await run(org, ['apply', '-f', file, '--yes', '--prune'], { env: SECRETS })
  expect(again).toMatchObject({ status: 0, out: expect.stringMatching(/^- dataset default\.default \(with its events\)$/) })

  const others = edited
    .replaceAll(/^(name|display_name): .*$/gm, '$1: Another')
    .replace('dataset: web\ntags', 'dataset: another\ntags')
    .replaceAll('[shop.web', '[shop.another')
    .replaceAll('resource_id: shop.web', 'resource_id: shop.another')
    .replace('dataset: web.access', 'dataset: another')
    .replace('"shop.eu".web.access', '"shop.eu".another')
    .replaceAll('Web developer', 'Another')
    .replace('webhook/Pager', 'webhook/Another')
    .replace('workspace_id: Chat', 'workspace_id: Another')
    .replace('idp: Corp', 'idp: Another')
    .replace('collection: shop\nretention: DAYS_730', 'collection: shop.eu\nretention: DAYS_730')
  const pruned = await run(org, ['apply', '-f', await fileWith(others), '--yes', '--prune'], { env: SECRETS })
  expect(pruned.status, pruned.err).toBe(0)
  const deleted = pruned.out.split('\n').flatMap((line) => /^- (\w+)/.exec(line)?.[1] ?? [])
  expect(deleted).toEqual([
    'sso_mapping',
    'identity_provider',
    'policy',
    'role',
    'dashboard',
    'saved_search',
    'monitor',
    'email_template',
    'slack',
    'slack_workspace',
    'webhook',
    'retention_rule',
    'dataset',
    'dataset',
  ])
  const left = await run(org, ['export-config'])
  expect(left.out).not.toMatch(/Pager|Overview|Web developer|Corp|Slow requests/)
})

const DATASET = 'kind: dataset\ncollection: shop\ndataset: web\ntags: { env: prod }\nretention: DAYS_90\n'
const monitorOf = (threshold: number, where = "level = 'error'") => `kind: monitor
name: Errors
comparison_operator: ABOVE
threshold: ${threshold}
window: Last 5 minutes
queries: [{ name: errors, select: [count(*)], from: [shop.web], where: "${where}" }]
actions: [{ email: oncall@example.org }]
`

/** An organization in which only these documents were applied. */
async function organizationWith(text: string, env: Record<string, string> = {}): Promise<TestOrganization> {
  const org = await app.newOrganization()
  expect(await run(org, ['apply', '-f', await fileWith(text), '--yes'], { env })).toMatchObject({ status: 0 })
  return org
}

test('a dry run shows each field before and after, changes nothing and exits with 3; an apply makes the changes', async () => {
  const org = await organizationWith(`${DATASET}---\n${monitorOf(10)}`)
  const edited = `${DATASET.replace('{ env: prod }', '{ env: test, team: web }').replace('retention: DAYS_90\n', '')}---
${monitorOf(20, "level = 'fatal'")}tags: { team: web }
---
kind: dataset
collection: shop
dataset: cart
`
  const file = await fileWith(edited)
  const dry = await run(org, ['apply', '-f', file, '--dry-run'])
  expect(dry.status).toBe(3)
  expect(dry.out.split('\n')).toEqual([
    '~ dataset shop.web',
    '    tags.env: prod → test',
    '    tags.team: (absent) → web',
    '    retention: DAYS_90 → (absent)',
    '+ dataset shop.cart',
    '    collection: shop',
    '    dataset: cart',
    '~ monitor Errors',
    '    threshold: 10 → 20',
    `    queries[0].where: "level = 'error'" → "level = 'fatal'"`,
    '    tags: (absent) → {"team":"web"}',
  ])
  expect(dry.err).toMatch(/^1 to create, 2 to change, 0 to delete, 0 unchanged\ndendro: 3 changes pending$/)
  expect((await run(org, ['apply', '-f', file, '--dry-run'])).status).toBe(3)
  const rows = JSON.parse((await run(org, ['apply', '-f', file, '--dry-run', '--output', 'json'])).out)
  expect(rows[2]).toMatchObject({
    action: 'change',
    kind: 'monitor',
    name: 'Errors',
    fields: [{ field: 'threshold', before: 10, after: 20 }, {}, {}],
  })
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({
    status: 0,
    err: expect.stringContaining('changed monitor Errors'),
  })
  const { monitors } = (await org.ask<{ monitors: object[] }>('GET', '/monitors')).body
  expect(monitors).toMatchObject([{ name: 'Errors', threshold: 20, tags: { team: 'web' }, queries: [{ where: "level = 'fatal'" }] }])
  expect(await run(org, ['apply', '-f', file, '--dry-run'])).toMatchObject({ status: 0, out: '' })
})

test('a person confirms; without a terminal, --yes is needed', async () => {
  const org = await app.newOrganization()
  const words = ['apply', '-f', await fileWith(DATASET)]
  const names = async () =>
    (await org.ask<{ datasets: { dataset: string }[] }>('GET', '/datasets')).body.datasets.map(({ dataset }) => dataset)
  expect(await run(org, words)).toMatchObject({ status: 2, err: expect.stringContaining('1 change pending; --yes makes them') })
  expect(await run(org, words, { typed: 'n' })).toMatchObject({ status: 1, err: expect.stringContaining('nothing was changed') })
  expect(await names()).not.toContain('web')
  expect(await run(org, words, { typed: 'y' })).toMatchObject({ status: 0 })
  expect(await names()).toContain('web')
  const piped = await run(org, ['apply', '-f', '-', '--yes'], { input: DATASET.replace('dataset: web', 'dataset: piped') })
  expect(piped).toMatchObject({ status: 0, err: expect.stringContaining('created dataset shop.piped') })
})

describe('all faults of the files are reported at once, with file and line, and nothing is sent', () => {
  const nowhere = { key: 'dk_unused' }
  const refused = async (text: string, env: Record<string, string> = {}): Promise<string[]> => {
    const file = await fileWith(text)
    const ran = await run(nowhere, ['apply', '-f', file, '--yes', '--url', 'http://127.0.0.1:9'], { env })
    expect(ran).toMatchObject({ status: 1, out: '' })
    return ran.err
      .replace(/^dendro: /, '')
      .replaceAll(file, 'FILE')
      .split('\n')
  }

  test.each<[string, string, (string | RegExp)[]]>([
    ['not YAML', 'kind: dataset\ncollection: [shop', [/^FILE:\d: /]],
    ['a name twice in a mapping', 'kind: dataset\nkind: role\n', [/^FILE:2: .*unique/]],
    ['not a mapping', '- kind: dataset\n', ['FILE:1: a document is a mapping with kind and the fields of one object']],
    ['no kind', 'name: x\n', [/^FILE:1: kind is required, one of dataset, /]],
    [
      'a kind that is not built',
      `${DATASET}---\nkind: api_key\nname: x\n`,
      [/^FILE:7: kind api_key cannot be kept in files; the kinds are dataset, /],
    ],
    [
      'an unknown field',
      `${DATASET}id: 7\n`,
      [/^FILE:6: dataset shop\.web: id is not a field of dataset: it has collection, dataset, tags, retention$/],
    ],
    ['a wrong value', DATASET.replace('DAYS_90', 'DAYS_91'), [/^FILE:5: dataset shop\.web: retention must be one of DAYS_30, /]],
    ['a missing field', 'kind: role\nrole_type: USER\npermissions: []\n', [/^FILE:\d: role : display_name is required$/]],
    [
      'an unknown field within',
      monitorOf(1).replace('name: errors', 'name: errors, fro: [x]'),
      [/^FILE:6: monitor Errors: queries\[0\]\.fro is not a field/],
    ],
    [
      'a wrong list',
      'kind: policy\npolicy_type: LOG_FORBID\nwhen:\n  resources: web\n',
      [/resource is required/, /principal is required|actions/, /FILE:/, /FILE:4: .*when\.resources must be a list/],
    ],
    [
      'an unknown permission',
      'kind: role\ndisplay_name: R\nrole_type: USER\npermissions:\n  - fly\n',
      [/^FILE:5: role R: permissions\[0\] is no permission: fly/],
    ],
    ['an object twice', `${DATASET}---\n${DATASET}`, [/^FILE:7: dataset shop\.web is already in FILE:1$/]],
    ['no document', '# nothing\n', ['the files have no document']],
    [
      'members of another type',
      `${monitorOf(1)}compare_to: 1 day ago\n`,
      [/^FILE:8: monitor Errors: compare_to is only for monitors of the type CHANGE_DETECTION$/],
    ],
    [
      'a widget with metrics and widgets',
      'kind: dashboard\nname: D\nwidgets:\n  - name: W\n    position: { x: 0, y: 0, w: 1 }\n    metrics: [{ queries: [] }]\n    widgets: [{ type: blob }]\n',
      [
        /FILE:7: .*widgets\[0\]\.widgets must be empty/,
        /FILE:5: .*position\.h is required/,
        /FILE:6: .*metrics\[0\]\.queries/,
        /FILE:7: .*name is required/,
        /FILE:7: .*type must be one of line/,
      ],
    ],
  ])('%s', async (_, text, expected) => {
    const lines = await refused(text)
    expect(lines).toEqual(expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))))
  })

  test('a variable that is not set, a secret in a file, and the mask of a secret', async () => {
    const webhook = `kind: webhook\nname: Pager\nurl: https://\${PAGER_HOST}/x\n`
    expect(await refused(webhook)).toEqual(['FILE:3: webhook Pager: url needs the environment variable PAGER_HOST, which is not set'])
    const secrets = `${webhook}signing_secret: a secret of many letters\ncustom_headers:\n  Authorization: '***'\n`
    expect(await refused(secrets, { PAGER_HOST: 'pager.example.org' })).toEqual([
      `FILE:4: webhook Pager: signing_secret is a secret: take the value from the environment, as in \${NAME}`,
      `FILE:6: webhook Pager: custom_headers.Authorization is the mask of a secret: take the value from the environment, as in \${NAME}`,
    ])
  })

  test('an alias that expands without bound is refused', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array.from({ length: 10 }, () => `*l${at}`).join(', ')}]`,
    )
    expect(await refused(`kind: dataset\nl0: &l0 [x]\n${levels.join('\n')}\n`)).toEqual([expect.stringMatching(/^FILE:1: .*alias/i)])
  })

  test('a folder without files is wrong usage', async () => {
    expect(await run(nowhere, ['apply', '-f', await mkdtemp(join(folder, 'empty-'))])).toMatchObject({ status: 2 })
    expect(await run(nowhere, ['apply', '-f', '/does/not/exist'])).toMatchObject({ status: 2, err: expect.stringContaining('ENOENT') })
  })
})

test('references to nothing are refused before any change, with the place', async () => {
  const org = await app.newOrganization()
  const file = await fileWith(`kind: dataset\ncollection: new\ndataset: one\n---\n${monitorOf(1)}`)
  const ran = await run(org, ['apply', '-f', file, '--yes'])
  expect(ran).toMatchObject({
    status: 1,
    err: `dendro: ${file}:10: monitor Errors names the dataset shop.web, which neither the files nor the service have`,
  })
  expect((await org.ask<{ datasets: object[] }>('GET', '/datasets')).body.datasets).not.toContainEqual(
    expect.objectContaining({ collection: 'new' }),
  )
})

test('a key that may only read exports, sees the changes, and changes nothing', async () => {
  const org = await organizationWith(DATASET)
  const reader = { key: await org.newKey(['SearchApi']) }
  const file = await fileWith(DATASET.replace('DAYS_90', 'DAYS_30'))
  expect(await run(reader, ['export-config', '--only', 'datasets'])).toMatchObject({
    status: 0,
    out: expect.stringContaining('retention: DAYS_90'),
  })
  expect((await run(reader, ['apply', '-f', file, '--dry-run'])).status).toBe(3)
  const ran = await run(reader, ['apply', '-f', file, '--yes'])
  expect(ran).toMatchObject({ status: 1, err: expect.stringMatching(/dataset shop\.web could not be changed: .*403/) })
  expect((await run(org, ['export-config', '--only', 'datasets'])).out).toContain('retention: DAYS_90')
})

test("only --prune deletes, and only objects of the kinds in the files that are not the service's own", async () => {
  const other = 'kind: dataset\ncollection: shop\ndataset: old\n'
  const org = await organizationWith(`${DATASET}---\n${other}---\n${monitorOf(1)}`)
  const file = await fileWith(`${DATASET}---\nkind: dataset\ncollection: default\ndataset: default\n`)
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({ status: 0, out: '' })
  const pruned = await run(org, ['apply', '-f', file, '--yes', '--prune'])
  expect(pruned).toMatchObject({
    status: 0,
    out: '- dataset shop.old (with its events)',
    err: expect.stringContaining('0 to create, 0 to change, 1 to delete, 2 unchanged'),
  })
  expect((await org.ask<{ monitors: object[] }>('GET', '/monitors')).body.monitors).toHaveLength(1)
  const both = await fileWith(`kind: dataset\ncollection: default\ndataset: default\n---\n${monitorOf(1)}`)
  expect(await run(org, ['apply', '-f', both, '--yes', '--prune'])).toMatchObject({
    status: 1,
    err: expect.stringContaining('names the dataset shop.web, which would be deleted'),
  })
  const system = await fileWith('kind: dataset\ncollection: .usage\ndataset: usage\n')
  expect(await run(org, ['apply', '-f', system, '--yes'])).toMatchObject({
    status: 1,
    err: expect.stringContaining('belongs to the service'),
  })
})

test('a failure in the middle lists what was made and what was not, and the same command finishes later', async () => {
  const org = await app.newOrganization()
  const webhook = (url: string) => `kind: webhook\nname: Pager\nurl: ${url}\n`
  const [bad, good] = [webhook('ftp://pager.example.org'), webhook('https://pager.example.org')].map(
    (text) => `${DATASET}---\n${text}---\n${monitorOf(1)}`,
  )
  const file = await fileWith(bad ?? '')
  const failed = await run(org, ['apply', '-f', file, '--yes'])
  expect(failed.status).toBe(1)
  expect(failed.err).toMatch(
    /webhook Pager could not be created: .*400.*\n1 of 3 changes made:\n {2}created: dataset shop\.web\n {2}not created: webhook Pager\n {2}not created: monitor Errors\n/,
  )
  await writeFile(file, good ?? '')
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({
    status: 0,
    err: expect.stringMatching(/^2 to create, 0 to change, 0 to delete, 1 unchanged/),
  })
})

test('two objects of the service with one name are refused', async () => {
  const org = await app.newOrganization()
  const body = { name: 'Pager', url: 'https://pager.example.org' }
  const ids = [
    await org.ask<{ id: string }>('POST', '/integrations/webhooks', { body }),
    await org.ask<{ id: string }>('POST', '/integrations/webhooks', { body }),
  ].map((reply) => reply.body.id)
  const ran = await run(org, ['apply', '-f', await fileWith('kind: webhook\nname: Pager\nurl: https://other.example.org\n'), '--yes'])
  expect(ran).toMatchObject({ status: 1, err: expect.stringContaining('2 objects of the service are webhook Pager') })
  for (const id of ids) expect(ran.err).toContain(id)
  expect(await run(org, ['export-config', '--only', 'webhooks'])).toMatchObject({
    status: 1,
    out: '',
    err: expect.stringContaining('2 objects are webhook Pager'),
  })
  expect((await run(org, ['export-config', '--only', 'datasets,dashboards'])).status).toBe(0)
  expect((await run(org, ['export-config', '--only', 'pagers'])).status).toBe(2)
})

test('values of the environment appear in no output, and secrets are written again only on request', async () => {
  const token = 'tk-8d1f0c77'
  const text = `kind: webhook\nname: Pager\nurl: https://pager.example.org/\${PAGER_TOKEN}\nsigning_secret: \${PAGER_SECRET}\n`
  const env = { PAGER_TOKEN: token, PAGER_SECRET: 'seventeen otters in a canoe' }
  const org = await organizationWith(text, env)
  const file = await fileWith(text)
  const rotated = { ...env, PAGER_SECRET: 'eighteen otters in a canoe' }
  expect(await run(org, ['apply', '-f', file, '--yes'], { env: rotated })).toMatchObject({ status: 0, out: '' })
  const written = await run(org, ['apply', '-f', file, '--yes', '--write-secrets'], { env: rotated })
  expect(written).toMatchObject({ status: 0, out: '~ webhook Pager\n    signing_secret: *** (written again)' })
  const moved = await run(org, ['apply', '-f', file, '--dry-run'], { env: { ...env, PAGER_TOKEN: 'tk-00000000' } })
  expect(moved).toMatchObject({ status: 3, out: `~ webhook Pager\n    url: *** → "https://pager.example.org/\${PAGER_TOKEN}"` })
  const named = await run(org, ['apply', '-f', await fileWith(text.replace('Pager', 'Other').replace('https', 'ftp')), '--yes'], { env })
  expect(named.status).toBe(1)
  const byName = await fileWith('kind: webhook\nname: \u0024{PAGER_TOKEN}\nurl: https://pager.example.org\n')
  const created = await run(org, ['apply', '-f', byName, '--yes'], { env })
  expect(created).toMatchObject({ status: 0, err: expect.stringContaining('created webhook \u0024{PAGER_TOKEN}') })
  for (const ran of [written, moved, named, created]) expect(ran.out + ran.err).not.toMatch(/otters|tk-/)
})

test('a widget of two dashboards is copied when one file changes it, and unused parts are deleted', async () => {
  const org = await organizationWith(DATASET)
  const create = async (path: string, body: object) => (await org.ask<{ id: string }>('POST', path, { body })).body.id
  const metric = await create('/metrics/definitions', { queries: [{ name: 'q', select: ['count(*)'], from_expr: '*' }] })
  const widget = await create('/widgets', { name: 'Shared', metric_ids: [metric] })
  for (const name of ['A', 'B']) await create('/dashboards', { name, widget_ids: [widget] })
  const place = await mkdtemp(join(folder, 'boards-'))
  await run(org, ['export-config', '-o', place, '--only', 'dashboards'])
  const file = join(place, 'dashboards.yaml')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('count(*)', 'max(ms)'))
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({ status: 0, err: expect.stringContaining('changed dashboard A') })
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({ status: 0, out: '' })
  const lists = async () => ({
    widgets: (await org.ask<{ widgets: object[] }>('GET', '/widgets')).body.widgets.length,
    metrics: (await org.ask<{ metric_definitions: object[] }>('GET', '/metrics/definitions')).body.metric_definitions.length,
  })
  expect(await lists()).toEqual({ widgets: 2, metrics: 2 })
  await writeFile(file, 'kind: dashboard\nname: A\n')
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({ status: 0 })
  expect(await lists()).toEqual({ widgets: 1, metrics: 1 })
  expect(await run(org, ['apply', '-f', file, '--yes', '--prune'])).toMatchObject({ status: 0, out: '- dashboard B' })
  expect(await lists()).toEqual({ widgets: 0, metrics: 0 })
})

test('a change within a dashboard keeps its widgets, and a refused one leaves nothing behind', async () => {
  const widget = (name: string, where: string, x: number) =>
    `      - { name: ${name}, position: { x: ${x}, y: 0, w: 1, h: 1 }, metrics: [{ queries: [{ name: q, select: [count(*)], from_expr: '*', where: "${where}" }] }] }\n`
  const board = (...widgets: string[]) => `kind: dashboard\nname: D\nwidgets:\n  - name: Group\n    widgets:\n${widgets.join('')}`
  const org = await organizationWith(board(widget('One', 'a = 1', 0), widget('Two', 'a = 2', 1)))
  type Listed = { widgets: { id: string; name: string; metric_ids: string[]; widget_ids: string[]; layout: unknown }[] }
  const widgets = async () => (await org.ask<Listed>('GET', '/widgets')).body.widgets
  const named = async (name: string) => (await widgets()).find((one) => one.name === name)
  const before = await named('One')
  const file = await fileWith(board(widget('One', 'a = 3', 5)))
  const changed = await run(org, ['apply', '-f', file, '--yes'])
  expect(changed.out).toContain('widgets[0].widgets[0].metrics[0].queries[0].where: "a = 1" → "a = 3"')
  expect(await named('One')).toMatchObject({ id: before?.id, metric_ids: before?.metric_ids })
  expect((await widgets()).map(({ name }) => name).sort()).toEqual(['Group', 'One'])
  expect(await named('Group')).toMatchObject({ widget_ids: [before?.id], layout: { widget_layouts: [{ id: before?.id, x: 5 }] } })
  expect(await run(org, ['apply', '-f', file, '--yes'])).toMatchObject({ status: 0, out: '' })
  const metrics = async () =>
    (await org.ask<{ metric_definitions: object[] }>('GET', '/metrics/definitions')).body.metric_definitions.length
  expect(await metrics()).toBe(1)
  const wrong = board(widget('Fine', 'a = 1', 0), widget('Wrong', 'a ==', 1)).replace('name: D', 'name: E')
  const refused = await run(org, ['apply', '-f', await fileWith(wrong), '--yes'])
  expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('dashboard E could not be created') })
  expect([(await widgets()).length, await metrics()]).toEqual([2, 1])
})

test('fields that the service cannot change are refused before any change', async () => {
  const workspace = 'kind: slack_workspace\nname: Chat\ntoken: \u0024{CHAT_TOKEN}\n'
  const env = { CHAT_TOKEN: 'xoxb-1' }
  const org = await organizationWith(workspace, env)
  const file = await fileWith(`${DATASET}---\n${workspace}api_url: https://chat.example.org/api\n`)
  const ran = await run(org, ['apply', '-f', file, '--yes', '--write-secrets'], { env })
  expect(ran).toMatchObject({ status: 1, out: '', err: expect.stringContaining(':7: slack_workspace Chat cannot be changed (api_url)') })
})

test('kinds that a key may not read are named, and can be left out', async () => {
  const org = await app.newOrganization()
  const ingester = { key: await org.newKey(['SearchApi']) }
  const ran = await run(ingester, ['export-config'])
  expect(ran).toMatchObject({ status: 1, out: '', err: expect.stringMatching(/^dendro: [a-z-]+: .*403.*; --only chooses other kinds$/) })
})

test('the documents and the script for CI in docs/config-as-files.md work as written', async () => {
  const page = await readFile(join(import.meta.dirname, '../../../docs/config-as-files.md'), 'utf8')
  const [documents] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const script = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block).at(-1)
  const place = await mkdtemp(join(folder, 'ci-'))
  await mkdir(join(place, 'config'))
  await writeFile(join(place, 'config', 'all.yml'), documents ?? '')
  await writeFile(join(place, 'config', 'okta-metadata.xml'), await samlMetadata('https://okta.example.org'))
  await symlink(join(import.meta.dirname, '../../dendro.mjs'), join(place, 'dendro'))
  const org = await app.newOrganization()
  const PATH = [place, dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { PATH, HOME: place, DENDRO_URL: app.url, DENDRO_API_KEY: org.key, PAGER_TOKEN: 'Bearer 4f1e77', ARCHIVE_KEY: 'heron-4417' }
  const runScript = () => promisify(execFile)('sh', ['-c', script ?? ''], { cwd: place, env })
  expect((await runScript()).stderr).toContain('14 changes made')
  expect((await runScript()).stdout).toBe('nothing to change\n')
  await expect(promisify(execFile)('sh', ['-c', script ?? ''], { cwd: place, env: { ...env, PAGER_TOKEN: '' } })).rejects.toMatchObject({
    code: 1,
  })
  const failing = await run(org, ['apply', '-f', join(place, 'config')])
  expect(failing).toMatchObject({
    status: 1,
    err: expect.stringContaining('all.yml:15: webhook Pager: custom_headers.Authorization needs the environment variable'),
  })
})

test('10,000 unchanged datasets take a few requests', async () => {
  const org = await app.newOrganization()
  const { world } = app.app
  const rows = Array.from({ length: 10_000 }, (_, at) => ({
    org_id: org.orgId,
    id: world.ids.uuid(),
    collection: `c${at % 100}`,
    dataset: `d${at}`,
    is_system_generated: false,
    tags: {},
    parser_id: null,
    retention: null,
    created_at: 0,
    created_by: null,
    modified_at: 0,
    modified_by: null,
  }))
  await world.meta.write(org.orgId, (tx) => insertDatasets(tx, rows))
  const place = await mkdtemp(join(folder, 'many-'))
  expect((await run(org, ['export-config', '-o', place])).status).toBe(0)
  let requests = 0
  const fetching = globalThis.fetch
  globalThis.fetch = (...given) => {
    requests += 1
    return fetching(...given)
  }
  const ran = await run(org, ['apply', '-f', place, '--yes']).finally(() => {
    globalThis.fetch = fetching
  })
  expect(ran).toMatchObject({ status: 0, out: '', err: expect.stringContaining('10001 unchanged') })
  expect(requests).toBeLessThan(30)
})
