import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_VERSION, contract, failureCodes, type OpenApiDocument, openApiDocument, pathNames, statusOf } from '../../api/src/index.ts'
import { bodySample, examplePath } from '../../server/src/http/pages/reference/examples.ts'
import { openTestApp, type TestApp } from '../support/world.ts'
import { endpoints } from './endpoints.ts'

let app: TestApp
let document: OpenApiDocument
let page: string
beforeAll(async () => {
  app = await openTestApp()
  document = (await app.ask<OpenApiDocument>('GET', '/openapi.json')).body
  page = (await app.ask<string>('GET', '/docs')).body
})
afterAll(() => app?.close())

const places = endpoints.flatMap(({ name, endpoint }) =>
  [endpoint.path, ...(endpoint.aliases ?? [])].map((path) => ({ name, endpoint, path })),
)

describe('the OpenAPI document', () => {
  test('is valid, and every reference in it resolves', async () => {
    expect(document.openapi).toBe('3.1.0')
    expect(await new Validator().validate(structuredClone(document) as never)).toEqual({ valid: true })
    const refs = [...new Set(JSON.stringify(document).match(/"\$ref":"[^"]+"/g))].map((pair) => pair.slice(8, -1))
    expect(refs.length).toBeGreaterThan(20)
    expect(refs.filter((ref) => follow(ref) === undefined)).toEqual([])
  })

  test('has the version of the API and the requested address', () => {
    expect(document.info.version).toBe(API_VERSION)
    expect(API_VERSION).toBe('1.0.0')
    expect(document.servers[0]?.url).toBe(app.url)
  })

  test.each(places)('lists $name at $path', ({ name, endpoint, path }) => {
    const operation = document.paths[path]?.[endpoint.method.toLowerCase()]
    expect(operation?.['x-alias-of'] ?? operation?.operationId).toBe(name)
    expect(operation).toMatchObject({ 'x-tier': endpoint.tier, 'x-permission': endpoint.permission, summary: endpoint.summary })
    expect(operation?.parameters?.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name) ?? []).toEqual(
      pathNames(path),
    )
    const codes = [statusOf(endpoint), ...Object.keys(endpoint.otherStatuses ?? {}), ...failureCodes(endpoint)].map(String)
    expect(Object.keys(operation?.responses ?? {}).sort()).toEqual([...codes, 'default'].sort())
    const success = operation?.responses[statusOf(endpoint)]
    const quota = success && 'headers' in success && 'RateLimit-Limit' in (success.headers ?? {})
    expect(quota).toBe(endpoint.permission !== 'public')
  })

  test('lists nothing else', () => {
    const listed = Object.values(document.paths).flatMap((item) => Object.values(item).map((operation) => operation.operationId))
    expect(listed).toHaveLength(places.length)
    expect(new Set(listed).size).toBe(listed.length)
  })

  test('gives failures the one body with its four required fields', () => {
    expect(document.components.schemas.Error).toMatchObject({ required: ['code', 'type', 'correlation_id', 'details'] })
    for (const response of Object.values(document.components.responses)) {
      expect(response.content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Error' })
    }
  })
})

function follow(ref: string): unknown {
  const steps = ref.slice(2).split('/')
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step.replaceAll('~1', '/')], document)
}

describe('the reference page', () => {
  test.each(endpoints)('has an article for $name', ({ name, endpoint }) => {
    const article = page.split('<article ').find((piece) => piece.startsWith(`id="${name}"`))
    expect(article).toContain(`data-method="${endpoint.method}" data-path="${endpoint.path}"`)
    for (const code of failureCodes(endpoint)) expect(article).toContain(`>${code}</li>`)
    for (const alias of endpoint.aliases ?? []) expect(article).toContain(`<code>${alias}</code>`)
  })

  test('holds no script or style of its own, loads nothing from elsewhere, and says so in its policy', async () => {
    const reply = await app.ask('GET', '/docs')
    expect(reply.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
    expect(page).not.toMatch(/<style|<script>|<script(?![^>]* src=)|\sstyle=|\son\w+=|javascript:/i)
    const loaded = [...page.matchAll(/<(?:script|link|img)[^>]*?(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '')
    expect(loaded.length).toBeGreaterThanOrEqual(4)
    for (const address of loaded) {
      expect(address).toMatch(/^\/docs\//)
      const file = await app.ask<string>('GET', address)
      expect(file.status).toBe(200)
      expect(file.headers.get('cache-control')).toBe('public, max-age=86400')
      expect(file.body).not.toMatch(/https?:\/\/(?!www\.w3\.org)/)
    }
  })

  test('has no two places of one name, and every link within it arrives', () => {
    const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1])
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map((match) => match[1])
    expect(links.filter((link) => !ids.includes(link))).toEqual([])
  })

  test('shows the requested address, never one from a forged header', async () => {
    expect(page).toContain(`curl &#39;${app.url}/datasets&#39;`)
    const forged = await app.ask<string>('GET', '/docs', { headers: { 'x-forwarded-host': '"><script>alert(1)</script>' } })
    expect(forged.body).not.toContain('alert(1)')
    expect(forged.body).toBe(page)
  })

  const own = openApiDocument(contract, { servers: [] })
  const withBody = endpoints.filter(({ endpoint }) => endpoint.body !== undefined)
  test.each(withBody)('shows a body for $name that the service would take', ({ endpoint }) => {
    const operation = own.paths[endpoint.path]?.[endpoint.method.toLowerCase()]
    const read = operation && endpoint.body?.safeParse(JSON.parse(bodySample(operation, own.components.schemas)?.text ?? ''))
    expect(read?.error?.issues ?? []).toEqual([])
    if (operation) expect(examplePath(endpoint.path, operation, own.components.schemas)).not.toMatch(/[{}]|undefined|object/)
  })
})

describe('the first page', () => {
  test('is a page that shows the health of the service and links to its parts', async () => {
    const openPage = () => app.ask<string>('GET', '/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })
    // On a machine that is very busy a store answers late now and then, which the page says too.
    await expect.poll(async () => (await openPage()).body).toContain('Healthy')
    const reply = await openPage()
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(reply.body).toContain('href="/docs"')
    expect((await app.ask('GET', '/')).headers.get('content-type')).toContain('text/html')
    expect((await app.ask('HEAD', '/')).status).toBe(200)
  })

  test.each(['application/json', 'application/json, text/html;q=0.9', 'text/html;q=0.5, application/json'])(
    'is an object for %s',
    async (accept) => {
      const reply = await app.ask('GET', '/', { headers: { accept } })
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(reply.headers.get('vary')).toContain('accept')
      expect(reply.body).toEqual({ name: 'Dendro', version: '0.1.0', docs: `${app.url}/docs` })
    },
  )

  test.each(['text/html, application/json', '*/*', 'application/json;q=0', 'nonsense'])('stays a page for %s', async (accept) => {
    expect((await app.ask('GET', '/', { headers: { accept } })).headers.get('content-type')).toContain('text/html')
  })
})
