import { type Random, randomFrom } from '../../server/src/lines/reference/generated-lines.fixture.ts'
import { irregularLines, kubernetesLines } from './irregular-data.ts'

/** Lines to measure the shredder with, made from a seed: what a service, an old program, a well instrumented platform and pods write. */
export const makers: Record<string, (random: Random) => () => string> = {
  service: serviceLines,
  text: textLines,
  wide: wideLines,
  kubernetes: kubernetesLines,
  irregular: irregularLines,
}

/** Generates lines of about a number of bytes. */
export function makeLines(kind: string, bytes: number): Buffer {
  const maker = makers[kind]
  if (!maker) throw new Error(`there are no lines of the kind ${kind}`)
  const next = maker(randomFrom(1))
  const lines: string[] = []
  for (let size = 0; size < bytes; ) {
    const line = next()
    lines.push(line)
    size += line.length + 1
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

const START_MS = Date.UTC(2025, 10, 20)
const hex = (random: Random, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
const address = (random: Random): string => `10.${random.below(4)}.${random.below(256)}.${1 + random.below(254)}`
const level = (random: Random): string =>
  random.pick(['info', 'info', 'info', 'info', 'info', 'info', 'info', 'info', 'warn', 'error', 'debug'])
const services = ['api', 'web', 'worker', 'billing', 'mailer', 'ingest']

/** Requests with trace ids, addresses and free text, in two shapes. */
function serviceLines(random: Random): () => string {
  let timestamp = START_MS
  return () => {
    timestamp += random.below(12)
    const service = random.pick(services)
    const user = 1 + random.below(200_000)
    const duration = Number((random.below(90_000) / 100).toFixed(2))
    const message = random.pick([
      `request completed for user ${user} in ${duration} ms`,
      `cache miss for key session:${hex(random, 8)}, reading from the store`,
      `retrying connection to ${address(random)}:5432 after ${random.below(9)} failures`,
      `order ${random.below(10 ** 7)} was paid with "card" in ${random.pick(['EUR', 'USD', 'INR'])}`,
    ])
    const line = { timestamp, level: level(random), service, host: `node-${random.below(40)}`, trace_id: hex(random, 32), message }
    const request = {
      method: random.pick(['GET', 'POST', 'PUT']),
      status: random.pick([200, 200, 200, 201, 404, 500]),
      duration,
      user_id: user,
    }
    return JSON.stringify(random.chance(0.7) ? { ...line, ...request, ip: address(random) } : { ...line, user_id: user })
  }
}

/** Lines of programs without JSON. */
function textLines(random: Random): () => string {
  let time = START_MS
  const pid = () => random.below(32_768)
  return () => {
    time += random.below(8)
    const iso = new Date(time).toISOString()
    return random.pick([
      () =>
        `${iso.slice(0, 19).replace('T', ' ')},${iso.slice(20, 23)} INFO dfs.DataNode$PacketResponder: Received block blk_${random.below(2 ** 31)} of size ${random.below(10 ** 8)} from /${address(random)}`,
      () =>
        `Nov 20 ${iso.slice(11, 19)} combo sshd(pam_unix)[${pid()}]: authentication failure; logname= uid=0 euid=0 tty=NODEVssh ruser= rhost=${address(random)} user=root`,
      () =>
        `${address(random)} - - [20/Nov/2025:${iso.slice(11, 19)} +0000] "GET /images/item-${random.below(999)}.png HTTP/1.1" 200 ${random.below(50_000)} "-" "Mozilla/5.0 (X11; Linux x86_64)"`,
      () => `[${iso}] [error] [client ${address(random)}] Directory index forbidden by rule: /var/www/html/`,
      () =>
        `- ${random.below(2 ** 31)} 2025.11.20 R0${random.below(9)}-M1-N${random.below(16)}-C:J12-U11 RAS KERNEL INFO instruction cache parity error corrected`,
    ])()
  }
}

/** Some ninety keys in nested objects, and now and then a rare one of three thousand. */
function wideLines(random: Random): () => string {
  let timestamp = START_MS
  return () => {
    timestamp += random.below(12)
    const service = random.pick(services)
    const line: Record<string, unknown> = {
      timestamp,
      level: level(random),
      service,
      host: `node-${random.below(120)}`,
      message: `${service} handled request ${random.below(10 ** 8)} in ${random.below(900)} ms`,
      k8s: {
        cluster: random.pick(['prod-a', 'prod-b']),
        namespace: service,
        pod: `${service}-${hex(random, 8)}-${hex(random, 5)}`,
        node: `ip-10-1-${random.below(4)}-${random.below(250)}`,
        labels: { app: service, team: random.pick(['red', 'blue', 'green']), version: `v1.${random.below(4)}.${random.below(10)}` },
      },
      cloud: {
        region: random.pick(['us-east-1', 'eu-west-1']),
        zone: random.pick(['a', 'b', 'c']),
        account: `1234567890${random.below(6)}`,
      },
      http: {
        method: random.pick(['GET', 'POST', 'PUT', 'DELETE']),
        status: random.pick([200, 200, 200, 201, 301, 404, 500]),
        bytes_in: random.below(5_000),
        bytes_out: random.below(200_000),
        route: `/v2/${random.pick(['users', 'orders', 'items'])}/${random.below(9_999)}`,
        ua: random.pick(['Mozilla/5.0 (X11; Linux x86_64)', 'curl/8.5.0', 'okhttp/4.12']),
      },
      trace: { id: hex(random, 32), span: hex(random, 16), sampled: random.chance(0.1) },
      user: {
        id: random.below(50_000),
        plan: random.pick(['free', 'pro', 'ent']),
        country: random.pick(['DE', 'US', 'FR']),
        beta: random.chance(0.05),
      },
      metrics: Object.fromEntries(
        Array.from({ length: 30 }, (_, at) => [`m${at}`, at % 3 ? random.below(10 ** (1 + (at % 5))) : random.below(10 ** 6) / 1_000]),
      ),
      flags: Object.fromEntries(Array.from({ length: 15 }, (_, at) => [`f${at}`, random.chance(0.5)])),
      tags: Array.from({ length: random.below(5) }, () => random.pick(['a', 'b', 'c', 'd'])),
      attr: Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, `x${at * (1 + random.below(5))}`])),
    }
    if (random.chance(0.02)) line.rare = { [`key_${random.below(3_000)}`]: random.below(100) }
    return JSON.stringify(line)
  }
}
