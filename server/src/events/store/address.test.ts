import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from './address.ts'

test('an address names server, database, cluster and the two logins', () => {
  const address = parseAddress('https://wri%40ter:p%3Aw%2F@logs.example:9440/events?cluster=main&reader=rea:d%26er:')
  expect(address).toMatchObject({ url: 'https://logs.example:9440', database: 'events', cluster: 'main' })
  expect([address.writer.user, address.writer.password.reveal()]).toEqual(['wri@ter', 'p:w/'])
  expect([address.reader?.user, address.reader?.password.reveal()]).toEqual(['rea', 'd&er:'])
})

test('missing parts of an address have defaults', () => {
  const address = parseAddress('http://127.0.0.1')
  expect(address).toMatchObject({ url: 'http://127.0.0.1:8123', database: 'dendro', cluster: undefined, reader: undefined })
  expect([address.writer.user, address.writer.password.reveal()]).toEqual(['default', ''])
  expect(parseAddress('https://u:p@[::1]/x').url).toBe('https://[::1]:8443')
  expect(parseAddress('http://u:p@host:80/x').url).toBe('http://host:80')
})

test.each(['http://w%3A:p%25%3F@127.0.0.1:8124/dendro?cluster=c&reader=r%3As%26cret', 'https://w:@[::1]:443/x'])(
  'the address %s, read and written out, is the same',
  (text) => {
    expect(formatAddress(parseAddress(text))).toBe(text)
  },
)

test.each([
  ['not an address with secret', 'is not a URL'],
  ['ftp://u:secret@host/db', 'must begin with http:// or https://'],
  ['http://u:secret@host/db;drop', 'letters, digits and _'],
  ["http://u:secret@host/db?cluster=a'b", 'letters, digits and _'],
  ['http://u:secret@host/db?readers=a:secret', 'unknown parameter readers'],
  ['http://u:secret@host/db?reader=secret', 'must look like user:password'],
])('%s is refused without repeating the secret in it', (text, reason) => {
  const refuse = () => parseAddress(text)
  expect(refuse).toThrow(reason)
  expect(refuse).not.toThrow(/secret/)
})

test('a password does not show when an address is printed', () => {
  const address = parseAddress('http://u:secret@host/db?reader=r:secret')
  expect(`${inspect(address, { depth: 5 })} ${JSON.stringify(address)}`).not.toContain('secret')
})
