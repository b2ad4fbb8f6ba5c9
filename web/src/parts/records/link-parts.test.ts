import { expect, test } from 'vitest'
import { linkParts } from './link-parts.ts'

const linksIn = (text: string) => linkParts(text).flatMap(({ text: part, isLink }) => (isLink ? [part] : []))

test('addresses are links, without the punctuation around them', () => {
  expect(linksIn('Runbook: https://wiki.example.org/a?b=1#c.')).toEqual(['https://wiki.example.org/a?b=1#c'])
  expect(linksIn('(see http://wiki.example.org/a), then HTTPS://b.example.org/x!')).toEqual([
    'http://wiki.example.org/a',
    'HTTPS://b.example.org/x',
  ])
  expect(linksIn('https://en.example.org/Pool_(computing)')).toEqual(['https://en.example.org/Pool_(computing)'])
})

test('nothing else is a link, and no character is lost', () => {
  for (const text of ['', 'none', 'javascript:alert(1)', 'https://', 'xhttps://a.b', 'mailto:a@b.c']) expect(linksIn(text)).toEqual([])
  const text = 'a https://b.example.org/c, "https://d.example.org/e"\nf https://'
  expect(
    linkParts(text)
      .map((part) => part.text)
      .join(''),
  ).toBe(text)
})
