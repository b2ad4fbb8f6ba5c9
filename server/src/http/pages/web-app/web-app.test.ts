import { expect, test } from 'vitest'
import { webAppPage } from './web-app.ts'

const web = { page: '<!doctype html><head><title>Dendro</title></head><body></body>', files: new Map() }

test('the page has only styles with the nonce of its response', () => {
  const [one, two] = [webAppPage(web), webAppPage(web)]
  const nonceOf = ({ headers }: typeof one) =>
    /style-src 'self' 'nonce-([\w-]{22,})';/.exec(headers['content-security-policy'] ?? '')?.[1] ?? ''
  expect(nonceOf(one)).not.toBe('')
  expect(nonceOf(one)).not.toBe(nonceOf(two))
  expect(one.body).toContain(`<head><meta property="csp-nonce" nonce="${nonceOf(one)}">`)
  expect(one.headers['content-security-policy']).not.toContain('unsafe')
})
