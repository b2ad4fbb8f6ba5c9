import { contract, openApiDocument } from '@dendro/api'
import { Answer, type Routes, routes } from '../../mount.ts'
import { invitationPage } from '../invitation/invitation.ts'
import type { WebFiles } from '../web-app/files.ts'
import { webAppPage } from '../web-app/web-app.ts'
import { type Asset, icon, invitationScript, script, style } from './assets.ts'
import { homePage, prefersJson } from './home.ts'
import { referencePage } from './page.ts'

export type ReferenceFacts = {
  version: string
  region: string
  /** web is the built web app; without it, `/` shows a page with links. */
  web: WebFiles | undefined
  /** problems are the reasons why the service is unhealthy now. */
  problems(): Promise<readonly string[]>
}

/** referenceRoutes serve the first page, the OpenAPI document, the reference and its files. */
export function referenceRoutes(facts: ReferenceFacts): Routes {
  const document = once(() => openApiDocument(contract, { servers: [{ url: BASE, description: `Region ${facts.region}` }] }))
  const page = once(() => referencePage(document(), { baseUrl: BASE, version: facts.version }))
  return routes('reference', contract.reference, {
    home: async ({ facts: { baseUrl, accept } }) => {
      if (prefersJson(accept)) {
        const about = JSON.stringify({ name: 'Dendro', version: facts.version, docs: `${baseUrl}/docs` })
        return new Answer(200, about, { 'content-type': 'application/json; charset=utf-8', vary: 'accept' })
      }
      if (facts.web) return webAppPage(facts.web, { vary: 'accept' })
      return asPage(homePage({ baseUrl, version: facts.version, region: facts.region, problems: await facts.problems() }), {
        vary: 'accept',
      })
    },
    openapi: async ({ facts: { baseUrl } }) => ({ ...document(), servers: [{ url: baseUrl, description: `Region ${facts.region}` }] }),
    page: async ({ facts: { baseUrl } }) => asPage(page().replaceAll(BASE, baseUrl)),
    style: async () => asFile(style),
    script: async () => asFile(script),
    icon: async () => asFile(icon),
    invitation: async () => (facts.web ? webAppPage(facts.web) : asPage(invitationPage())),
    invitationScript: async () => asFile(invitationScript),
  })
}

/** BASE is replaced by the address of each request, so that the page is rendered only once. */
const BASE = 'http://base.invalid'
const DAY_S = 86_400

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Pages load only files of this service; inline scripts and styles are blocked. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const asPage = (markup: string, headers: Record<string, string> = {}): Answer<string> =>
  new Answer(200, markup, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    ...headers,
  })

const asFile = ({ text }: Asset): Answer<string> => new Answer(200, text, { 'cache-control': `public, max-age=${DAY_S}` })
