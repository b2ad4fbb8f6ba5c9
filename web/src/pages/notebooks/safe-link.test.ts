import { expect, test } from 'vitest'
import { safeLink } from './safe-link.ts'

const BASE = 'https://logs.example.org'

test.each([
  ['https://wiki.example.org/a?b#c', 'https://wiki.example.org/a?b#c'],
  ['/app/explore?q=1', 'https://logs.example.org/app/explore?q=1'],
  ['mailto:oncall@example.org', 'mailto:oncall@example.org'],
])('a link to %s leads there', (href, address) => expect(safeLink(href, BASE)).toBe(address))

test.each([
  'javascript:alert(1)',
  ' JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc',
  'http://[',
])('a link to %o is text', (href) => expect(safeLink(href, BASE)).toBeUndefined())
