import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let org: TestOrganization
let folder: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  folder = await mkdtemp(join(tmpdir(), 'dendro-cli-'))
  await send('web', [
    { message: 'cart opened', level: 'info', host: 'web-1', ms: 12 },
    { message: 'payment failed', level: 'error', host: 'web-2', ms: 300 },
    { message: 'red \u001b[31m and \u202e backwards 漢字', level: 'warn', host: 'web-1', ms: 50 },
  ])
  await send('api', [{ message: 'payment refused', level: 'error', host: 'api-1', ms: 7 }])
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function send(dataset: string, events: readonly object[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = events.map((event) => JSON.stringify(event)).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
  app.clock.advance(600)
}

const dendro = (words: string[], given: Parameters<typeof runCaptured>[1] = {}): Promise<Ran> =>
  runCaptured(words, { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder }, ...given })

describe('dendro search', () => {
  test('prints one line per event, and the cost on standard error', async () => {
    const { status, out, err } = await dendro(['search', 'payment', 'failed', '-d', 'web'])
    expect({ status, err }).toEqual({ status: 0, err: expect.stringMatching(/^1 event · [\d.]+ [kM]?B read · \d+ ms$/) })
    expect(out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z ERROR payment failed host=web-2 ms=300$/)
  })

  test('names the dataset when several are searched', async () => {
    const { out } = await dendro(['search', "level = 'error'", '--oldest-first', '-q'])
    expect(out.split('\n').map((line) => line.split(' ').slice(2, 6).join(' '))).toEqual([
      'ERROR shop.web payment failed',
      'ERROR shop.api payment refused',
    ])
  })

  test('never prints control characters, and aligns wide characters', async () => {
    const lines = await dendro(['search', 'backwards'])
    expect(lines.out).toContain('red \\u001b[31m and \\u202e backwards 漢字')
    const { out } = await dendro(['search', '-d', 'web', '--columns', 'message,host', '--oldest-first'])
    expect(out.split('\n')).toEqual([
      'MESSAGE                                   HOST',
      'cart opened                               web-1',
      'payment failed                            web-2',
      'red \\u001b[31m and \\u202e backwards 漢字  web-1',
    ])
    for (const output of ['json', 'ndjson', 'csv']) {
      expect((await dendro(['search', 'backwards', '--output', output], { columns: 200 })).out, output).not.toContain('\u202e')
    }
  })

  test('writes JSON, NDJSON and CSV', async () => {
    const found = ['search', 'payment', '--oldest-first', '--columns', 'dataset,host']
    const rows = [
      { dataset: 'shop.web', host: 'web-2' },
      { dataset: 'shop.api', host: 'api-1' },
    ]
    expect(JSON.parse((await dendro([...found, '--output', 'json'])).out)).toEqual(rows)
    expect((await dendro([...found, '--output', 'ndjson'])).out.split('\n').map((line) => JSON.parse(line))).toEqual(rows)
    expect((await dendro([...found, '--output', 'csv'])).out).toBe('dataset,host\r\nshop.web,web-2\r\nshop.api,api-1\r')
    expect((await dendro(['search', 'no such word', '--output', 'json'])).out).toBe('[]')
    const [whole] = JSON.parse((await dendro(['search', 'refused', '--output', 'json'])).out)
    expect(whole).toMatchObject({ '@status': 'error', collection: 'shop', dataset: 'api', host: 'api-1', '@raw': expect.any(String) })
  })

  test('pages through more events than one response has', async () => {
    const { out } = await dendro(['search', '-n', '3', '--columns', 'message'])
    expect(out.split('\n')).toHaveLength(4)
  })

  test('computes values, also by group', async () => {
    expect((await dendro(['search', '--select', 'count(*)', '--select', 'max(ms)', '--output', 'json'])).out).toBe(
      JSON.stringify([{ 'count(*)': 4, 'max(ms)': 300 }], undefined, 2),
    )
    const { out } = await dendro(['search', '--by', 'level,host', '--output', 'ndjson'])
    expect(out.split('\n').map((line) => JSON.parse(line))).toContainEqual({ level: 'error', host: 'api-1', 'count(*)': 1 })
  })

  test('takes the time ranges of the web app', async () => {
    for (const range of ['2h', 'last 3 days', 'today', '2020-01-01 to now']) {
      expect((await dendro(['search', 'refused', '-t', range, '--columns', 'host'])).out, range).toBe('HOST\napi-1')
    }
    expect(await dendro(['search', '-t', 'soon'])).toMatchObject({ status: 2, err: expect.stringContaining("'soon' is not a time range") })
  })

  test.each([
    [['search', '--select', 'count(*)', '--columns', 'a'], '--select excludes --columns'],
    [['search', '--by', 'level', '--oldest-first'], '--by excludes --oldest-first'],
    [['search', '--refs', '--output', 'json'], '--output json excludes --refs'],
    [['search', '--raw', '--columns', 'a'], '--columns excludes --raw'],
    [['tail', '--raw', '--output', 'ndjson'], '--output ndjson excludes --raw'],
    [['tail', '--output', 'json'], '--output json has no end here; use ndjson'],
    [['search', 'a', '--where', 'b'], 'give the query either as words or with --where'],
    [['search', '-d', 'web', '--from-expr', '*'], '--dataset excludes --from-expr'],
    [['login', '--key', 'a', '--token', 'b'], 'give one of --key, --token and --email'],
  ])('%j is refused, since an option would have no effect', async (words, sentence) => {
    expect(await dendro(words)).toEqual({ status: 2, out: '', err: `dendro: ${sentence}` })
  })

  test('points at the error of a query and shows the fix', async () => {
    const { status, out, err } = await dendro(['search', "level == 'error' AND host = 'x'"])
    expect({ status, out }).toEqual({ status: 1, out: '' })
    expect(err.split('\n')).toEqual([
      expect.stringMatching(/^dendro: where: .*correlation id [\da-f]{32}\)$/),
      "  level == 'error' AND host = 'x'",
      '        ^^',
      "  try: level = 'error' AND host = 'x'",
    ])
    const generic = await dendro(['search', 'run', '--from-expr', "dataset == 'x'", '--select', '*'])
    expect(generic.err.split('\n').slice(1)).toEqual(["  dataset == 'x'", '          ^^', "  try: dataset = 'x'"])
  })

  test('colors levels only on a terminal, and never with NO_COLOR', async () => {
    const env = { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder }
    expect((await dendro(['search', 'failed'])).out).not.toContain('\u001b')
    expect((await dendro(['search', 'failed'], { columns: 200 })).out).toContain('\u001b[31mERROR\u001b[0m')
    expect((await dendro(['search', 'failed'], { columns: 200, env: { ...env, NO_COLOR: '1' } })).out).not.toContain('\u001b')
    expect((await dendro(['search', 'failed', '--color', 'always'])).out).toContain('\u001b[31m')
  })
})

describe('dendro patterns, top, context and explain', () => {
  test('list patterns with their counts', async () => {
    const { status, out } = await dendro(['patterns', 'payment', '-d', 'shop.web'])
    expect({ status, out }).toEqual({
      status: 0,
      out: expect.stringMatching(/^COUNT +ID +DATASET +TEMPLATE\n1 +[\da-f]{16} +shop\.web +payment failed$/),
    })
  })

  test('list fields, and the values of one', async () => {
    expect((await dendro(['top', '-d', 'web', '-n', '50'])).out).toMatch(/^host +string +3 +web-1 \(2\), web-2 \(1\)$/m)
    const { out } = await dendro(['top', 'host', "level != 'warn'"])
    expect(out.split('\n').slice(1).sort()).toEqual(['1      33.3 %  api-1', '1      33.3 %  web-1', '1      33.3 %  web-2'])
    const { out: json } = await dendro(['top', 'level', '--output', 'json'])
    expect(JSON.parse(json)).toContainEqual({ level: 'error', 'count(*)': 2 })
  })

  test('values of fields with blanks in their names, and of several fields', async () => {
    for (const field of ['user name', '"user name"']) {
      const { status, out } = await dendro(['top', field, "message = 'cart opened'"])
      expect([status, out.split('\n').slice(1)]).toEqual([0, ['1      100.0 %  null']])
    }
    const grouped = await dendro(['search', "message = 'cart opened'", '--by', 'user name,level', '--output', 'ndjson'])
    expect(grouped).toMatchObject({ status: 0, out: '{"user name":"null","level":"info","count(*)":1}' })
    const { out } = await dendro(['top', 'host,level', "message = 'cart opened'"])
    expect(out.split('\n').slice(1)).toEqual(['1      100.0 %  web-1, info'])
  })

  test('show the events around an event, by its reference, its URL or its JSON', async () => {
    const { out: line } = await dendro(['search', 'failed', '--output', 'ndjson'])
    const { out: ref } = await dendro(['search', 'failed', '--columns', 'ref', '--output', 'csv'])
    const word = ref.split('\r\n')[1]?.replace('\r', '') ?? ''
    const [logId, timestamp, sequence] = word.split('/')
    const url = `${app.url}/context?from=${logId}&timestamp=${timestamp}&sequence=${sequence}`
    for (const [given, input] of [[word], [url], ['-', line]] as [string, string?][]) {
      const { status, out } = await dendro(['context', given], input === undefined ? {} : { input })
      expect(status).toBe(0)
      expect(out.split('\n').map((one) => `${one[0]} ${one.split(' ').slice(4, 6).join(' ')}`)).toEqual(
        expect.arrayContaining(['> payment failed']),
      )
      expect(out.split('\n')).toHaveLength(3)
    }
    expect((await dendro(['context', word, '--from-expr', '*'])).out.split('\n')).toHaveLength(4)
    expect(await dendro(['context', 'nonsense'])).toMatchObject({
      status: 2,
      err: expect.stringContaining("'nonsense' is not a reference"),
    })
    const withoutPlace = await dendro(['context', '-'], { input: '{"message": "x"}' })
    expect(withoutPlace).toMatchObject({ status: 2, err: expect.stringContaining('the event on standard input has no log_id') })
    expect(await dendro(['context', '-'], { input: 'x' })).toMatchObject({ status: 2, err: expect.stringContaining('no line of JSON') })
  })

  test('explain an error and the cost of a query', async () => {
    const { out: input } = await dendro(['search', 'failed', '--output', 'ndjson'])
    const { status, out } = await dendro(['explain', 'error', '-'], { input })
    expect(status).toBe(0)
    expect(out).toContain('What is known:')
    expect((await dendro(['explain', 'query', 'payment'])).out).toMatch(
      /^filter +payment\nrange +Last 15 minutes\nbytes_in_range +[\d.]+ k?B$/,
    )
    expect(await dendro(['explain', 'query', 'a ='])).toMatchObject({ status: 1, err: expect.stringContaining('  a =') })
  })
})

test.each([
  [[], 'No events match. A longer range: --range 1d'],
  [['-t', 'yesterday'], 'No events match. A longer range: --range 7d'],
  [['-t', 'last 3 days'], 'No events match. A longer range: --range 7d'],
  [['-t', '30d'], 'No events match. A longer range: --range 1y'],
  [['-t', '2y'], 'No events match.'],
])('without events, only a longer range is suggested: %j', async (words, hint) => {
  expect((await dendro(['search', 'nosuchword', '-q', ...words])).err).toBe(hint)
})

describe('dendro monitors', () => {
  const definition = {
    name: 'Failures',
    comparison_operator: 'ABOVE',
    threshold: 0,
    window: 'Last 1 day',
    actions: [{ email: 'oncall@example.org' }],
    queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: "level = 'error'" }],
  }

  test('list states, show evaluations and backtest another threshold', async () => {
    const { body } = await org.ask<{ id: string }>('POST', '/monitors', { body: definition })
    expect((await dendro(['monitors', 'list'])).out).toMatch(new RegExp(`^${body.id}  \\w+ +Failures  above 0, last 1 day$`, 'm'))
    expect(JSON.parse((await dendro(['monitors', 'list', '--status', 'WARN', '--output', 'json'])).out)).toEqual([])
    await org.ask('POST', '/monitors', { body: { ...definition, name: 'Another' } })
    const page = await dendro(['monitors', 'list', '--sort', 'name', '--limit', '1'])
    expect([page.out, page.err]).toEqual([
      expect.stringMatching(/ Another +above 0/),
      expect.stringMatching(/^there are more: --cursor \S+$/),
    ])
    const second = ['monitors', 'list', '--sort', 'name', '--limit', '1', '--cursor', page.err.split(' ').at(-1) ?? '']
    expect(JSON.parse((await dendro([...second, '--output', 'ndjson'])).out)).toMatchObject({ name: 'Failures' })
    expect((await dendro(['monitors', 'list', '--search', 'FAIL', '--output', 'csv'])).out.split('\n')).toHaveLength(2)
    const shown = await dendro(['monitors', 'show', 'Failures'])
    expect(shown.out).toMatch(/^queries +errors: count\(\*\) where level = 'error'$/m)
    const tested = await dendro(['monitors', 'backtest', 'Failures', '--days', '1', '--output', 'json'])
    expect(JSON.parse(tested.out)).toMatchObject({ changes_total: expect.any(Number), time_in_status: expect.any(Object) })
    const unstored = await dendro(['monitors', 'backtest', '--body', '-', '--days', '1'], { input: JSON.stringify(definition) })
    expect(unstored).toMatchObject({ status: 0, err: expect.stringMatching(/changes? · \d+ notifications?/) })
    expect((await dendro(['monitors', 'show', 'nobody'])).err).toBe("dendro: there is no monitor 'nobody'")
    expect((await dendro(['monitors', 'get', body.id])).status).toBe(0)
  })
})
