import { randomBytes } from 'node:crypto'
import { contract, webPages } from '@dendro/api'
import { notFound } from '../../../kernel/errors.ts'
import { preferredEncoding } from '../../compress.ts'
import { Answer, type Routes, routes } from '../../mount.ts'
import type { WebFiles } from './files.ts'

/**
 * The content security policy of the app: only this server's files and addresses. Libraries of the interface add style sheets, which carry
 * the page's nonce. Inline scripts and other inline styles are forbidden.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ')

const NONCE_BYTES = 16
const FOR_EVER = 'public, max-age=31536000, immutable'

/** Serves the web app from memory. */
export function webAppRoutes(web: WebFiles | undefined): Routes {
  return routes('webApp', contract.webApp, {
    start: async () => webAppPage(web),
    page: async ({ params: { page }, facts }) => {
      if (webPages.some((name) => name === page)) return webAppPage(web)
      // To a browser the app itself says that there is no such page, with links to the others.
      if (facts.accept.includes('text/html')) return webAppPage(web, {}, 404)
      throw notFound('page of the web app')
    },
    file: async ({ params, facts }) => {
      const file = web?.files.get(params.file)
      if (!file) throw notFound('file of the web app')
      const headers = { 'content-type': file.type, 'cache-control': FOR_EVER }
      if (file.brotli && preferredEncoding(facts.acceptEncoding ?? '') === 'br')
        return new Answer<unknown>(200, file.brotli, { ...headers, 'content-encoding': 'br', vary: 'accept-encoding' })
      return new Answer<unknown>(200, file.bytes, headers)
    },
  })
}

/** The single page of the app, which routes by its address. */
export function webAppPage(web: WebFiles | undefined, headers: Record<string, string> = {}, status: 200 | 404 = 200): Answer<string> {
  if (!web) throw notFound('web app: it is not built; run `npm run build`')
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  return new Answer(status, web.page.replace('<head>', `<head><meta property="csp-nonce" nonce="${nonce}">`), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyWith(nonce),
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    ...headers,
  })
}
