import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { asColdAges } from './setting-values.ts'

const GOOD_KEY = 'k2Jx0bqv-8mWfT3uYc5RzL7oHs1NdGpE'

test.each([
  ['DENDRO_MASTER_KEY', 'short', 'at least 32 bytes'],
  ['DENDRO_MASTER_KEY', 'a'.repeat(64), 'at least 10 different characters'],
  ['DENDRO_MASTER_KEY', 'ab'.repeat(32), 'at least 10 different characters'],
  ['DENDRO_JWT_SECRET', '0'.repeat(64), 'at least 10 different characters'],
  ['DENDRO_BOOTSTRAP_API_KEY', 'admin', 'at least 32 bytes'],
  ['DENDRO_BOOTSTRAP_API_KEY', `${GOOD_KEY} and a space`, 'without spaces'],
  ['DENDRO_BOOTSTRAP_API_KEY', `${GOOD_KEY}ü`, 'without spaces'],
  ['DENDRO_MEMORY', '0', 'at least 512M'],
  ['DENDRO_MEMORY', '511M', 'at least 512M'],
  ['DENDRO_MEMORY', '-1G', 'must look like'],
  ['DENDRO_SMTP_URL', 'mail.example.com', 'must look like smtp'],
  ['DENDRO_SMTP_URL', 'mail.example.com:25', 'must look like smtp'],
  ['DENDRO_SMTP_URL', 'http://mail.example.com', 'must look like smtp'],
  ['DENDRO_SMTP_URL', 'smtp://', 'must look like smtp'],
  ['DENDRO_SMTP_URL', 'smtp://mail.example.com:99999', 'must look like smtp'],
  ['DENDRO_MAIL_FROM', 'nobody', 'must be an address'],
  ['DENDRO_MAIL_FROM', 'a@example.com\r\nBcc: b@example.com', 'must be an address'],
  ['DENDRO_POSTGRES_URL', 'mysql://user:password@db/dendro', 'must look like postgres'],
  ['DENDRO_POSTGRES_URL', 'db.example.com', 'must look like postgres'],
  ['DENDRO_POSTGRES_CONNECTIONS', '1', 'must be a whole number from 2 to 1000'],
  ['DENDRO_POSTGRES_CONNECTIONS', '10.5', 'must be a whole number from 2 to 1000'],
  ['DENDRO_CLICKHOUSE_URL', 'clickhouse://user:password@store:9000/dendro', 'must look like http'],
  ['DENDRO_CLICKHOUSE_URL', 'store.example.com:8123', 'must look like http'],
  ['DENDRO_CLICKHOUSE_URL', 'http://user:pass%word@store/dendro', 'invalid percent-encoding'],
  ['DENDRO_CLICKHOUSE_URL', 'http://store/dendro?shards=2', 'unknown parameter'],
  ['DENDRO_HEC_ACKNOWLEDGEMENTS', 'yes', 'must be on or off'],
  ['DENDRO_ELASTICSEARCH_VERSION', '9', 'must be a version such as 9.1.0'],
  ['DENDRO_VERCEL_SECRETS', 'a-long-secret,short', 'at least 8 characters'],
  ['DENDRO_VERCEL_VERIFY', 'two words', 'without spaces'],
  ['DENDRO_LISTENERS', '514', 'must be addresses such as syslog'],
  ['DENDRO_LISTENERS', 'smtp+tcp://0.0.0.0:25?key=secret', 'must be addresses such as syslog'],
  ['DENDRO_LISTENERS', 'relp+udp://0.0.0.0:514', 'must name tcp or tls for relp'],
  ['DENDRO_LISTENERS', 'syslog+udp://0.0.0.0:70000?key=secret', 'port numbers up to 65535'],
  ['DENDRO_LISTENERS', 'syslog+udp://[10.0.0.1]:514?key=secret', 'an IPv6 address between brackets'],
  ['DENDRO_LISTENERS', 'gelf+udp://0.0.0.0:12201?dataset=a', 'must have an API key as key in gelf+udp://0.0.0.0:12201'],
  ['DENDRO_LISTENERS', 'syslog+udp://0.0.0.0:514?key=secret', 'it is too short'],
  ['DENDRO_LISTENERS', 'syslog+udp://0.0.0.0:514?kei=secret', 'knows no parameter kei'],
  ['DENDRO_LISTENERS', `syslog+udp://0.0.0.0:514?key=${GOOD_KEY}&key=${GOOD_KEY}`, 'must have key once'],
  ['DENDRO_LISTENERS', `syslog+udp://0.0.0.0:514?key=${GOOD_KEY}&networks=10.0.0.0/33`, 'must have networks such as 10.0.0.0/8'],
  ['DENDRO_LISTENERS', `syslog+udp://0.0.0.0:514?key=${GOOD_KEY}&dataset=.usage`, 'a valid name as dataset'],
  ['DENDRO_LISTENERS', `syslog+tcp://0.0.0.0:514?key=${GOOD_KEY}&client_ca=/ca.pem`, 'client_ca for tls only'],
  ['DENDRO_LISTENERS', `syslog+tcp://0.0.0.0:514?key=${GOOD_KEY}&shared_key=x`, 'for forward only'],
  ['DENDRO_LISTENERS', `forward+tcp://0.0.0.0:514?key=${GOOD_KEY}&user=x`, 'shared_key next to user'],
  ['DENDRO_LISTENERS', 'syslog+udp://0.0.0.0:514 syslog+udp://0.0.0.0:514', 'names syslog+udp://0.0.0.0:514 twice'],
  ['DENDRO_MASTER_KEY_FILE', '/nowhere/master.key', 'names a file that cannot be read'],
])('%s=%s is refused by name and rule, and secrets are not repeated', (name, text, rule) => {
  const refused = () => readConfig({ [name]: text })
  expect(refused).toThrow(`${name} `)
  expect(refused).toThrow(rule)
  if (text.length > 8 && !name.endsWith('_FILE')) expect(refused).not.toThrow(text)
})

test('a weak master key in a file is refused as well', () => {
  const dir = mkdtempSync(join(tmpdir(), 'dendro-config-'))
  try {
    const file = join(dir, 'master.key')
    for (const [text, rule] of [
      ['', 'names an empty file'],
      ['weak', 'at least 32 bytes'],
    ] as const) {
      writeFileSync(file, text)
      expect(() => readConfig({ DENDRO_MASTER_KEY_FILE: file })).toThrow(rule)
    }
    writeFileSync(file, `${GOOD_KEY}\n`)
    expect(readConfig({ DENDRO_MASTER_KEY_FILE: file }).DENDRO_MASTER_KEY_FILE?.reveal()).toBe(GOOD_KEY)
  } finally {
    rmSync(dir, { recursive: true })
  }
})

test('valid values are accepted unchanged', () => {
  const config = readConfig({
    DENDRO_MASTER_KEY: 'f'.repeat(10) + '0123456789abcdef'.repeat(4),
    DENDRO_BOOTSTRAP_API_KEY: GOOD_KEY,
    DENDRO_MEMORY: '512M',
    DENDRO_SMTP_URL: 'smtps://user:pa%20ss@mail.example.com:465',
    DENDRO_MAIL_FROM: 'Logs <logs@example.com>',
    DENDRO_HEC_ACKNOWLEDGEMENTS: 'on',
    DENDRO_VERCEL_SECRETS: 'Secret-One, secret-two',
    DENDRO_POSTGRES_URL: 'postgresql://dendro@localhost/dendro?host=/run/postgresql',
  })
  expect(config.DENDRO_MEMORY).toBe(2 ** 29)
  expect(config.DENDRO_HEC_ACKNOWLEDGEMENTS).toBe(true)
  expect(config.DENDRO_VERCEL_SECRETS.map((secret) => secret.reveal())).toEqual(['Secret-One', 'secret-two'])
  expect(config.DENDRO_BOOTSTRAP_API_KEY?.reveal()).toBe(GOOD_KEY)
  expect(config.DENDRO_SMTP_URL?.reveal()).toBe('smtps://user:pa%20ss@mail.example.com:465')
})

test('cold storage takes an age, longer ones by id, and off', () => {
  const id = '0b7c3a52-2f60-4ab7-9c6e-0a4f1c2d3e4f'
  expect(asColdAges('off')).toEqual({ otherwiseMs: undefined, byId: new Map() })
  expect(asColdAges(`30d, ${id.toUpperCase()}=90d`)).toEqual({ otherwiseMs: 30 * 86_400_000, byId: new Map([[id, 90 * 86_400_000]]) })
  expect(() => asColdAges(`30d,${id}=30d`)).toThrow('must name longer ages than 30d')
  expect(() => asColdAges(`off,${id}=30d`)).toThrow('must not name datasets when it is off')
  for (const wrong of ['30', 'd', '30d,shop=90d', `30d,${id}`, `30d,${id}=off`, '30d,'])
    expect(() => asColdAges(wrong), wrong).toThrow(/^must/)
})
