import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contract, type ForwardConfig, type Idp, type IngestRule } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newSamlKey } from '../../../server/src/resources/access/sso/saml-provider.ts'
import { metadataOf } from '../../../test/support/saml-provider.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'
import { kinds } from '../configuration/kinds.ts'

let app: TestApp
let folder: string
let metadata: string
let otherMetadata: string
beforeAll(async () => {
  app = await openTestApp()
  folder = await mkdtemp(join(tmpdir(), 'dendro-config-kinds-'))
  const { certificate } = await newSamlKey(Date.now())
  metadata = metadataOf('https://campus.example.org', certificate)
  otherMetadata = metadataOf('https://moved.example.org', certificate)
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

type Setting = { org: Pick<TestOrganization, 'key'>; env?: Record<string, string>; included?: Record<string, string>; words?: string[] }

/** Writes documents into a new file, with other files in its folder. */
async function fileWith(text: string, others: Record<string, string> = {}): Promise<string> {
  const place = await mkdtemp(join(folder, 'files-'))
  for (const [name, content] of Object.entries({ ...others, 'config.yaml': text })) await writeFile(join(place, name), content)
  return join(place, 'config.yaml')
}

const run = (org: Pick<TestOrganization, 'key'>, words: string[], env: Record<string, string> = {}): Promise<Ran> =>
  runCaptured(words, { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder, ...env } })

const apply = async (text: string, { org, env, included, words = ['--yes'] }: Setting): Promise<Ran> =>
  run(org, ['apply', '-f', await fileWith(text, included), ...words], env)

/** Applies documents; the same documents then change nothing. */
async function applied(text: string, setting: Setting): Promise<Ran> {
  const ran = await apply(text, setting)
  expect(ran.status, ran.err).toBe(0)
  expect(await apply(text, { ...setting, words: ['--dry-run'] })).toMatchObject({ status: 0, out: '' })
  return ran
}

const rule = (name: string, rest = "where: level = 'debug'") => `kind: ingest_rule
name: ${name}
from_expr: '*'
${rest}
action: { type: DROP }
`
const rules = (...names: string[]) => names.map((name) => rule(name)).join('---\n')

const rulesOf = async (org: TestOrganization) => (await org.ask<{ ingest_rules: IngestRule[] }>('GET', '/ingest-rules')).body.ingest_rules
const namesOf = async (org: TestOrganization) => (await rulesOf(org)).map(({ name }) => name).join(' ')

describe('ingest rules', () => {
  test('with any action are the same after a second run', async () => {
    const org = await app.newOrganization()
    await org.ask('POST', '/lookup-tables', { body: { name: 'hosts', key: 'host', csv: 'host,team' } })
    const actions = [
      '{ type: ADD_FIELDS, fields: [{ name: env, value: prod }] }',
      '{ type: RENAME_FIELDS, fields: [{ from: a, to: b }] }',
      '{ type: REMOVE_FIELDS, names: [c] }',
      "{ type: PARSE, format: DISSECT, pattern: '%{a} %{b}' }",
      '{ type: SET_TAGS, tags: { team: shop } }',
      '{ type: SET_DATASET, dataset: errors }',
      "{ type: LOOKUP, table: hosts, key: host, prefix: '' }",
      '{ type: COUNT, metric: errors, by: [] }',
    ]
    const files = actions.map((action, at) => rule(`R${at}`).replace('{ type: DROP }', action)).join('---\n')
    await applied(files, { org })
    expect((await rulesOf(org)).map(({ action }) => action.type)).toEqual(actions.map((text) => /type: (\w+)/.exec(text)?.[1]))
    const again = await applied(files, { org })
    expect(again.err).toMatch(/0 to create, 0 to change, 0 to delete, 8 unchanged/)
  })

  test('apply in the order of the documents, and others keep their places', async () => {
    const org = await app.newOrganization()
    const first = await applied(rules('A', 'B', 'C'), { org })
    expect(first.out).not.toContain('(order)')
    expect(await namesOf(org)).toBe('A B C')
    const moved = await applied(rules('C', 'A', 'B'), { org })
    expect(moved.out.split('\n')).toEqual(['~ ingest_rule (order)', '    order[0]: A → C', '    order[1]: B → A', '    order[2]: C → B'])
    expect(moved.err).toMatch(/^0 to create, 1 to change, 0 to delete, 3 unchanged\nchanged ingest_rule \(order\)\n1 change made$/)
    expect(await namesOf(org)).toBe('C A B')
    // A is not in these files, and stays in the middle.
    const dry = await apply(rules('N', 'B', 'C'), { org, words: ['--dry-run', '--output', 'json'] })
    expect(dry.status).toBe(3)
    expect(JSON.parse(dry.out)).toMatchObject([
      { action: 'create', kind: 'ingest_rule', name: 'N' },
      {
        action: 'order',
        kind: 'ingest_rule',
        fields: [
          { field: 'order[0]', before: 'C', after: 'N' },
          { field: 'order[3]', before: 'N', after: 'C' },
        ],
      },
    ])
    await applied(rules('N', 'B', 'C'), { org })
    expect(await namesOf(org)).toBe('N A B C')
    await applied(rules('C', 'N'), { org, words: ['--yes', '--prune'] })
    expect(await namesOf(org)).toBe('C N')
  })

  test('change in place with a new version; an absent member gets its default', async () => {
    const org = await app.newOrganization()
    await applied(
      `kind: dataset\ncollection: shop\ndataset: web\n---\n${rule('A', "description: noise\nenabled: false\nwhere: level = 'debug'")}`,
      { org },
    )
    const listed = rule('A', '').replace("from_expr: '*'", 'from: [shop.web]')
    const changed = await applied(listed, { org })
    expect(changed.out.split('\n')).toEqual([
      '~ ingest_rule A',
      '    enabled: false → true',
      '    from: (absent) → ["shop.web"]',
      '    description: noise → (absent)',
      '    from_expr: * → (absent)',
      `    where: "level = 'debug'" → (absent)`,
    ])
    const [after] = await rulesOf(org)
    expect(after).toMatchObject({ version: 2, description: '', enabled: true, where: '' })
    expect(after?.from_expr).toBeUndefined()
    await applied(listed.replace('{ type: DROP }', "{ type: REDACT, kinds: [EMAIL], replacement: '' }"), { org })
    expect((await rulesOf(org))[0]).toMatchObject({ version: 3, action: { replacement: '', kinds: ['EMAIL'] } })
    await applied(listed.replace('{ type: DROP }', '{ type: REDACT, kinds: [EMAIL] }'), { org })
    expect((await rulesOf(org))[0]).toMatchObject({ version: 4, action: { replacement: '[REDACTED]' } })
  })

  test('a rule that somebody else changes after the plan is left as it is', async () => {
    const org = await app.newOrganization()
    await applied(rules('A'), { org })
    const [before] = await rulesOf(org)
    const fetching = globalThis.fetch
    globalThis.fetch = async (...given) => {
      if (given[1]?.method === 'PATCH') {
        globalThis.fetch = fetching
        expect(await org.ask('PATCH', `/ingest-rules/${before?.id}`, { body: { where: 'a = 1' } })).toMatchObject({ status: 200 })
      }
      return fetching(...given)
    }
    const ran = await apply(rule('A', 'where: b = 2'), { org }).finally(() => {
      globalThis.fetch = fetching
    })
    expect(ran).toMatchObject({ status: 1, err: expect.stringMatching(/ingest_rule A could not be changed: the rule has version 2.*409/) })
    expect(await rulesOf(org)).toMatchObject([{ where: 'a = 1', version: 2 }])
  })
})

test('forward configs change in place, with their secrets from the environment', async () => {
  const org = await app.newOrganization()
  const text = (rest: string) => `kind: forward_config
name: Archive
compression: ZSTD
${rest}destination:
  destination_type: S3
  bucket: logs
  endpoint: https://objects.example.org
  access_key_id: AKEY
  secret_access_key: \${ARCHIVE_KEY}
---
kind: dataset
collection: shop
dataset: web
`
  const env = { ARCHIVE_KEY: 'heron-4417-lagoon' }
  await applied(text('all_logs: true\nfilter: a = 1\ndescription: all\n'), { org, env })
  const changed = await applied(text('all_logs: false\nlog_ids: [shop.web]\nformat: NDJSON\n'), { org, env })
  expect(changed.out.split('\n')).toEqual([
    '~ forward_config Archive',
    '    all_logs: true → false',
    '    log_ids: (absent) → ["shop.web"]',
    '    format: RAW → NDJSON',
    '    description: all → (absent)',
    '    filter: "a = 1" → (absent)',
  ])
  const configs = async () => (await org.ask<{ 'forward-configs': ForwardConfig[] }>('GET', '/forward-configs')).body['forward-configs']
  expect(await configs()).toMatchObject([{ all_logs: false, format: 'NDJSON', destination: { secret_access_key: '***' } }])
  const moved = text('all_logs: true\n').replace('objects.example.org', 'elsewhere.example.org')
  expect((await applied(moved, { org, env })).out).toContain('endpoint: https://objects.example.org → https://elsewhere.example.org')
  const again = await apply(moved, { org, env, words: ['--yes', '--write-secrets'] })
  expect(again).toMatchObject({ status: 0, out: '~ forward_config Archive\n    destination.secret_access_key: *** (written again)' })
  expect(again.err).not.toContain('heron')
  const sent = `kind: forward_config\nname: Site\nall_logs: true\ncompression: NONE\ndestination:\n  destination_type: HTTP\n  url: https://logs.example.org\n`
  await applied(`${sent}  headers:\n    X-Token: \${ARCHIVE_KEY}\n    X-Plain: yes\n`, { org, env })
  const without = await applied(sent, { org, env, words: ['--yes', '--prune'] })
  expect(without.out.split('\n')).toEqual([
    '~ forward_config Site',
    '    destination.headers: {"X-Plain":"***","X-Token":"***"} → (absent)',
    '- forward_config Archive',
  ])
  expect(await configs()).toMatchObject([{ name: 'Site', destination: { headers: {} } }])
})

describe('SAML providers', () => {
  const provider = (rest = '') => `kind: identity_provider
name: Campus
provider_type: SAML
meta_cert: { file: campus.xml }
${rest}`
  const idpsOf = async (org: TestOrganization) => (await org.ask<{ idps: Idp[] }>('GET', '/sso/idps')).body.idps

  test('take their metadata from another file, and change in place', async () => {
    const org = await app.newOrganization()
    const included = { 'campus.xml': metadata }
    await applied(provider('app_client_id: https://logs.example.org\naccept_idp_initiated: true\nsession_minutes: 45\n'), { org, included })
    expect(await idpsOf(org)).toMatchObject([{ meta_cert: metadata, app_client_id: 'https://logs.example.org', session_minutes: 45 }])
    const changed = await applied(provider(), { org, included: { 'campus.xml': otherMetadata } })
    expect(changed.out.split('\n')).toEqual([
      '~ identity_provider Campus',
      '    accept_idp_initiated: true → false',
      expect.stringMatching(
        /^ {4}meta_cert: "….*campus\.example\.org.*… \(\d+ characters\)" → "….*moved\.example\.org.*… \(\d+ characters\)"$/,
      ),
      '    app_client_id: https://logs.example.org → (absent)',
      '    session_minutes: 45 → (absent)',
    ])
    const [after] = await idpsOf(org)
    expect(after).toMatchObject({ meta_cert: otherMetadata, app_client_id: `urn:uuid:${after?.id}`, accept_idp_initiated: false })
    expect(after?.session_minutes).toBeUndefined()
    const inline = provider().replace('{ file: campus.xml }', JSON.stringify(otherMetadata))
    expect(await apply(inline, { org, words: ['--dry-run'] })).toMatchObject({ status: 0, out: '' })
    const other = `kind: identity_provider\nname: Campus\nprovider_type: OIDC\nissuer_url: https://x.example.org\nclient_id: a\nclient_secret: \${CAMPUS}\n`
    const refused = await apply(other, { org, env: { CAMPUS: 'a secret' } })
    expect(refused).toMatchObject({
      status: 1,
      out: '',
      err: expect.stringMatching(/Campus cannot be changed \(provider_type\): delete it/),
    })
    expect(await idpsOf(org)).toEqual([after])
  })

  test('an included text is taken as it is', async () => {
    const org = await app.newOrganization()
    const included = { 'campus.xml': metadata.replace('?>', '?><!-- \u0024{PATH} $\u0024{HOME} -->\r\n') }
    await applied(provider(), { org, included })
    expect(await idpsOf(org)).toMatchObject([{ meta_cert: included['campus.xml'] }])
    const exported = await run(org, ['export-config', '--only', 'identity-providers'])
    expect(await apply(exported.out, { org, words: ['--dry-run'] })).toMatchObject({ status: 0, out: '' })
  })

  test('name only files in the folder of the document', async () => {
    const org = await app.newOrganization()
    const place = await mkdtemp(join(folder, 'outer-'))
    const inner = join(place, 'config')
    await mkdir(join(inner, 'metadata'), { recursive: true })
    await writeFile(join(place, 'secret.xml'), metadata)
    await writeFile(join(inner, 'metadata', 'campus.xml'), metadata)
    await writeFile(join(inner, 'large.xml'), 'x'.repeat(1024 * 1024 + 1))
    await symlink(join(place, 'secret.xml'), join(inner, 'link.xml'))
    const file = join(inner, 'config.yaml')
    const refused = async (name: string) => {
      await writeFile(file, provider().replace('campus.xml', name))
      const ran = await run(org, ['apply', '-f', file, '--yes'])
      expect(ran).toMatchObject({ status: 1, out: '' })
      return ran.err.replace(`dendro: ${file}:4: meta_cert names the file ${name}, which `, '')
    }
    expect(await refused('../secret.xml')).toBe('is not in the folder of the document')
    expect(await refused(join(place, 'secret.xml'))).toBe('is not in the folder of the document')
    expect(await refused('link.xml')).toBe('is not in the folder of the document')
    expect(await refused('metadata')).toBe('is no file')
    expect(await refused('large.xml')).toBe('is larger than 1048576 bytes')
    expect(await refused('missing.xml')).toBe('cannot be read (ENOENT)')
    const piped = await runCaptured(['apply', '-f', '-', '--yes'], {
      env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key },
      input: provider(),
    })
    expect(piped).toMatchObject({
      status: 1,
      err: expect.stringContaining('standard input:4: meta_cert names the file campus.xml, which cannot be'),
    })
    expect(await idpsOf(org)).toEqual([])
    await writeFile(file, provider().replace('campus.xml', 'metadata/campus.xml'))
    expect(await run(org, ['apply', '-f', inner, '--yes'])).toMatchObject({ status: 0 })
  })
})

test('conditions of policies on the fields of events arrive as they were written', async () => {
  const org = await app.newOrganization()
  const text = `kind: dataset
collection: shop
dataset: web
---
kind: policy
policy_type: CUSTOM
resource: { resource_type: LOG_SET, resource_id: shop }
principal: { principal_type: ROLE, principal_id: ReadOnly }
actions: [read]
when:
  where: team = 'shop'
  context: [{ key: tenant, operator: '==', value: '' }, { key: shard, operator: in, value: '1,2' }, { key: open, operator: '==', value: false }]
unless: { where: level = 'debug' }
`
  await applied(text, { org })
  const { policies } = (await org.ask<{ policies: object[] }>('GET', '/policies')).body
  expect(policies).toMatchObject([
    {
      when: {
        where: "team = 'shop'",
        context: [{ value: '' }, { operator: 'in', value: '1,2' }, { value: false }],
      },
      unless: { where: "level = 'debug'" },
    },
  ])
  const changed = await applied(text.replace("team = 'shop'", "team = 'web'").replace("value: '1,2'", "value: '1,3'"), { org })
  expect(changed.out).toContain(`when.where: "team = 'shop'" → "team = 'web'"`)
  expect(changed.out).toContain('when.context[1].value: "1,2" → "1,3"')
})

describe('faults of the files are reported with their lines, and nothing is sent', () => {
  test.each<[string, string, (string | RegExp)[]]>([
    ['a rule with two kinds of sources', `${rule('A')}from: [shop.web]\n`, ['3: ingest_rule A: from_expr and from exclude each other']],
    ['a rule without datasets', rule('A').replace("from_expr: '*'\n", ''), [/from or from_expr must name datasets$/]],
    [
      'a rule that redacts nothing',
      rule('A').replace('{ type: DROP }', '{ type: REDACT }'),
      ['5: ingest_rule A: action needs kinds or expressions'],
    ],
    ['a position', `${rule('A')}position: 3\n`, [/^6: ingest_rule A: position is not a field of ingest_rule/]],
    [
      'an unknown action',
      rule('A').replace('{ type: DROP }', '{ type: HIDE }'),
      [/^5: ingest_rule A: action.type must be one of DROP, SAMPLE, /],
    ],
    ['no action', rule('A').replace('{ type: DROP }', '{ keep: 1 }'), [/^5: ingest_rule A: action.type is required, one of DROP, /]],
    [
      'an unknown field of an action',
      rule('A').replace('{ type: DROP }', '{ type: DROP, key: a }'),
      ['5: ingest_rule A: action.key is not a field of this object'],
    ],
    [
      'a plain key and an empty header',
      `kind: forward_config
name: A
all_logs: false
compression: NONE
destination: { destination_type: S3, bucket: logs, secret_access_key: plain }
---
kind: forward_config
name: B
all_logs: true
log_ids: [shop.web]
compression: NONE
destination: { destination_type: HTTP, url: 'https://logs.example.org', headers: { X-A: '', X-B: '***' } }
`,
      [
        /^5: forward_config A: destination.secret_access_key is a secret: take the value/,
        '1: forward_config A: log_ids must name at least one dataset when all_logs is false',
        '5: forward_config A: destination.secret_access_key and access_key_id belong together',
        /^12: forward_config B: destination.headers.X-B is the mask of a secret/,
        '10: forward_config B: log_ids must be absent when all_logs is true',
        '12: forward_config B: destination.headers.X-A must not be empty',
      ],
    ],
    [
      'members of the other protocol',
      `kind: identity_provider
name: A
provider_type: SAML
scopes: openid
deactivate_refused: true
---
kind: identity_provider
name: B
provider_type: OIDC
meta_cert: <x/>
accept_idp_initiated: true
`,
      [
        /: identity_provider A: meta_cert is required$/,
        '4: identity_provider A: scopes is only for OIDC',
        '5: identity_provider A: deactivate_refused must be false for SAML',
        /B: issuer_url is required$/,
        /B: client_id is required$/,
        /B: client_secret is required$/,
        '10: identity_provider B: meta_cert is only for SAML',
        '11: identity_provider B: accept_idp_initiated must be false for OIDC',
      ],
    ],
    [
      'a file that is neither a text nor a name',
      'kind: identity_provider\nname: A\nprovider_type: SAML\nmeta_cert: { file: a.xml, of: b }\n',
      ['4: identity_provider A: meta_cert must be text'],
    ],
  ])('%s', async (_, text, expected) => {
    const file = await fileWith(text)
    const ran = await run({ key: 'dk_unused' }, ['apply', '-f', file, '--yes', '--url', 'http://127.0.0.1:9'])
    expect(ran).toMatchObject({ status: 1, out: '' })
    const lines = ran.err
      .replace(/^dendro: /, '')
      .replaceAll(`${file}:`, '')
      .split('\n')
    expect(lines).toEqual(expected.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line))))
  })
})

test('notebooks have their steps, with datasets by name; a change that somebody made since the plan is left as it is', async () => {
  const org = await app.newOrganization()
  const text = (words: string) => `kind: dataset
collection: shop
dataset: web
---
kind: notebook
name: Declined payments
description: What we know
steps:
  - title: Where it began
    words: ${words}
    search_details: { from: [shop.web], where: "level = 'error'", from_ts: 1767225600000, to_ts: 1767229200000 }
  - words: Then it stopped.
`
  const made = await applied(text('The bank **declines** some.'), { org })
  expect(made.out).toContain('+ notebook Declined payments')
  const list = async () => (await org.ask<{ notebooks: { id: string; version: number }[] }>('GET', '/notebooks')).body.notebooks
  const [{ id = '' } = {}] = await list()
  const datasets = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body.datasets
  expect((await org.ask('GET', `/notebooks/${id}`)).body).toMatchObject({
    steps: [{ search_details: { from: datasets.find(({ dataset }) => dataset === 'web')?.id } }, { words: 'Then it stopped.' }],
  })
  const exported = await run(org, ['export-config', '--only', 'notebooks'])
  expect(exported.out).toContain('kind: notebook\nname: Declined payments\n')
  expect(exported.out).toContain('- shop.web')
  const changed = await applied(text('All of them.').replace('description: What we know\n', ''), { org })
  expect(changed.out.split('\n')).toEqual([
    '~ notebook Declined payments',
    '    steps[0].words: The bank **declines** some. → All of them.',
    '    description: What we know → (absent)',
  ])
  const fetching = globalThis.fetch
  globalThis.fetch = async (...given) => {
    if (given[1]?.method === 'PATCH') {
      globalThis.fetch = fetching
      expect(await org.ask('PATCH', `/notebooks/${id}`, { body: { description: 'theirs' } })).toMatchObject({ status: 200 })
    }
    return fetching(...given)
  }
  const late = await apply(text('Mine.'), { org }).finally(() => {
    globalThis.fetch = fetching
  })
  expect(late.status).toBe(1)
  expect(late.err).toContain('the notebook has the version 3 by now')
  const empty = await apply('kind: notebook\nname: Bare\nsteps:\n  - title: Nothing\n', { org })
  expect(empty.err).toContain('steps[0] must have words, search_details or both')
  await applied('kind: notebook\nname: Another\n', { org, words: ['--yes', '--prune'] })
  expect((await list()).length).toBe(1)
})

test('documents have every field that the contract lets a caller set', () => {
  const { integrations } = contract
  const bodies: Record<string, readonly unknown[]> = {
    dataset: [contract.datasets.create.body, contract.datasets.update.body],
    ingest_rule: [contract.ingestRules.create.body],
    lookup_table: [contract.lookupTables.create.body, contract.lookupTables.update.body],
    source: [contract.sources.create.body],
    forward_config: [contract.forwardConfigs.create.body],
    webhook: [integrations.createWebhook.body],
    slack_workspace: [integrations.createSlackWorkspace.body],
    slack: [integrations.createSlack.body],
    email_template: [integrations.createEmailTemplate.body],
    monitor: [contract.monitors.create.body, contract.monitors.update.body],
    saved_search: [contract.savedSearches.create.body],
    notebook: [contract.notebooks.create.body],
    dashboard: [contract.dashboards.create.body],
    role: [contract.roles.create.body],
    policy: [contract.policies.create.body],
    identity_provider: [contract.sso.createIdp.body, contract.sso.updateIdp.body],
    sso_mapping: [contract.sso.createMapping.body],
  }
  const leftOut: Record<string, readonly string[]> = {
    // A former name of type; a mute is no configuration; what a template made is written as what it became.
    monitor: ['monitor_type', 'mute_until', 'template'],
    saved_search: ['template'],
    // Widgets are within the document, with their positions.
    dashboard: ['layout', 'widget_ids', 'template'],
  }
  // A retention rule has a form of its own, because its scope is a collection or the organization.
  expect(kinds.map(({ name }) => name).filter((name) => name !== 'retention_rule' && !bodies[name])).toEqual([])
  for (const { name, members } of kinds) {
    const fields = (bodies[name] ?? []).flatMap((body) => Object.keys((body as { shape: object }).shape))
    const missing = fields.filter((field) => !members.includes(field) && !leftOut[name]?.includes(field))
    expect(missing, name).toEqual([])
  }
})
