import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { wireProtocols } from '../../http/pages/reference/wire-protocols.ts'
import { native } from './native/native.ts'
import { otlp } from './otlp/otlp.ts'
import { receivers } from './receivers.ts'

const others = receivers.filter((receiver) => receiver !== native && receiver !== otlp)
const guide = readFileSync(new URL('../../../../docs/protocols.md', import.meta.url), 'utf8')

test('the reference describes the protocol of every receiver', () => {
  expect(wireProtocols.map(({ receiver }) => receiver).sort()).toEqual(others.map(({ name }) => name).sort())
})

test.each(others.map((receiver) => [receiver.name, receiver] as const))('the paths of %s are those of its receiver', (name, { routes }) => {
  const documented = wireProtocols.find(({ receiver }) => receiver === name)?.paths ?? []
  const posts = routes.filter(({ methods, probe }) => methods.includes('POST') && !probe)
  const examples = documented.map((path) => path.replaceAll(/\{\w+\}/g, 'a'))
  expect(examples.filter((path) => !posts.some(({ tail }) => tail.test(path)))).toEqual([])
  expect(posts.filter(({ tail }) => !examples.some((path) => tail.test(path)))).toEqual([])
  const [first = ''] = documented
  expect(guide).toContain(`\`POST ${first}`)
})
