import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A message and the name of its true template. */
export type LabelledMessage = { readonly message: string; readonly template: string }
export type Corpus = { readonly name: string; readonly lines: readonly LabelledMessage[] }

const LINES = 1_500

/**
 * Generates the corpora of a folder. Each file lists templates with their weights; `{name}` stands for a value. The lines are the same in
 * every run.
 */
export function generatedCorpora(folder: string, count = LINES): Corpus[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .map((file) => ({ name: file.replace('.txt', ''), lines: linesOf(file, readFileSync(join(folder, file), 'utf8'), count) }))
}

function linesOf(seed: string, text: string, count: number): LabelledMessage[] {
  const templates = text
    .trim()
    .split('\n')
    .map((line) => ({ weight: Number(line.slice(0, line.indexOf(' '))), template: line.slice(line.indexOf(' ') + 1) }))
  const total = templates.reduce((sum, { weight }) => sum + weight, 0)
  const random = randomFrom(seed)
  return Array.from({ length: count }, () => {
    let left = random() * total
    const { template } = templates.find(({ weight }) => {
      left -= weight
      return left < 0
    }) ?? { template: '' }
    return { message: filled(template, random), template }
  })
}

type Random = () => number

/** The generator mulberry32, seeded by a text. */
function randomFrom(seed: string): Random {
  let state = [...seed].reduce((sum, char) => Math.imul(sum ^ char.charCodeAt(0), 0x01000193), 0x811c9dc5)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const filled = (template: string, random: Random): string =>
  template
    .replaceAll('{{', '\u0001')
    .replaceAll('}}', '\u0002')
    .replace(/\{(\w+)\}/g, (_, name: string) => makeValue(name, random))
    .replaceAll('\u0001', '{')
    .replaceAll('\u0002', '}')

const lists: Record<string, readonly string[]> = {
  user: words(
    'grace barbara katherine root admin oracle ada linus dennis ken margaret test guest deploy backup www-data jenkins alan edsger donald john.smith m.garcia svc_report anna2',
  ),
  surname: words('Turing Lovelace Hopper Knuth Liskov Hamilton Johnson Ritchie Perlman Berners Cerf Lamarr Noether Curie Franklin'),
  db: words('shop billing analytics inventory'),
  table: words('orders customers invoices line_items sessions events stock_levels audit_log'),
  app: words('checkout payments search frontend auth-service inventory mailer redis worker billing-api gateway nginx'),
  topic: words('orders payments clicks page-views user.events inventory_updates'),
  ns: words('default prod staging kube-system monitoring'),
  node: words('node1 node2 node17 worker-03 worker-11 edge-a cn042 cn107'),
  resource: words('memory nodefs imagefs ephemeral-storage'),
  city: words('Berlin Lisbon Tokyo Nairobi Lima Oslo Toronto Madrid'),
  cache: words('products prices sessions translations'),
  job: words('nightly-report cleanup reindex billing_run new-checkout dark-mode sync'),
  company: words('acme globex initech umbrella hooli stark'),
  acl: words('OUTSIDE_IN 101 mgmt-acl GUEST'),
  place: words('Inlet Outlet Hotspot PSU'),
  DOMAIN: words('CORP WORKGROUP'),
  monster: words('Zombie Skeleton Creeper Spider Witch Enderman'),
  map: words('de_dust2 canyon Highlands forest_03 harbor'),
  color: words('red blue green yellow'),
  region: words('eu-west us-east ap-south sa-east'),
  item: words('sword shield potion bow helmet'),
  branch: words('main develop feature/login release/1.4 fix-timeouts'),
  currency: words('EUR USD GBP'),
  cur: words('EUR USD GBP JPY CHF'),
  country: words('DE FR US JP BR PL'),
  bucket: words('logs media backups customer-exports images'),
  net: words('private public storage-net mgmt'),
  codec: words('ulaw alaw opus g722 gsm'),
  dept: words('sales support billing returns'),
  abc: words('batch debug gpu long short'),
  slot: words('A1 A2 B1 B2 C3'),
  vol: words('archive scratch home Macintosh Time_Capsule'),
  ward: words('cardiology oncology W3 ICU pediatrics'),
  month: words('Jan Feb Mar Jun Oct Dec'),
  dev: words('sda1 sdb2 nvme0n1p2 dm-0'),
  unit: words('nginx postgresql docker cron-daily backup-home snapd chronyd'),
  service: [
    'Windows Update',
    'Print Spooler',
    'Background Intelligent Transfer',
    'DHCP Client',
    'Themes',
    'WinHTTP Web Proxy Auto-Discovery',
  ],
  unitname: [
    'Daily apt download activities',
    'Docker Application Container Engine',
    'Session 12 of user root',
    'OpenSSH server daemon',
    'nginx web server',
    'Rotate log files',
    'Network Time Service',
  ],
  phrase: ['good game', 'hello everyone', 'who has iron', 'brb', 'one more round please', 'lag'],
  reason: ['spamming', 'flying is not enabled', 'bad language', 'inactivity'],
  error: ['connection reset', 'no such file', 'permission denied', 'timed out after 30 s', 'disk full'],
  command: ['npm ci', 'make test', 'apt-get update', '/usr/lib/php/sessionclean', '/usr/local/bin/backup.sh --full'],
  sql: [
    'SELECT * FROM orders WHERE id = 17',
    'UPDATE stock_levels SET amount = 3 WHERE sku = 9',
    'COMMIT',
    'INSERT INTO audit_log (who) VALUES (1)',
    'SELECT count(*) FROM sessions',
  ],
  agent: ['sdk-go/1.2 (linux)', 'Mozilla/5.0 (X11; Linux x86_64)', 'curl/8.5.0', 'backup-tool/3'],
  status: words('200 201 204 301 404 403 500 503'),
  exe: words('chrome.exe firefox.exe svchost.exe outlook.exe Code.exe'),
  file: words('report.pdf libc.so.6 part-00017.csv photo_2041.jpg backup.tar.gz build.log'),
  pkg: words('serde tokio left-pad rand regex lodash express'),
  snake: words('parses_empty_input handles_timeouts rejects_bad_dates round_trip merges_two_lists'),
  camel: words('RpcServer PowerButton QueryService LocalStore ReadOnlyAccess TaskRunner IdleTimer'),
  rdns: words('com.example.helper org.sample.agent com.example.daily net.vendor.updater'),
  host: words('mail.example.org web1.example.com db02.corp.example.net api.shop.example proxy.example.edu cdn7.example.io'),
  kb: words('KB5034441 KB4023057 KB890830 KB5001716'),
  size: words('12.4KB 3.1MB 512.0B 1.29GB 88KB'),
  dur: words('1m12s 340ms 2.5s 1h3m 12s'),
  dirs: words('var srv home opt data www images assets users logs'),
}

function words(text: string): readonly string[] {
  return text.split(' ')
}

function makeValue(name: string, random: Random): string {
  const whole = (max: number) => Math.floor(random() * max)
  const pick = <T>(list: readonly T[]): T => list[whole(list.length)] as T
  const chars = (alphabet: string, length: number) => Array.from({ length }, () => pick([...alphabet])).join('')
  const hex = (length: number) => chars('0123456789abcdef', length)
  const two = (max: number) => String(whole(max)).padStart(2, '0')
  const of = (other: string) => makeValue(other, random)
  const list = lists[name]
  if (list) return pick(list)
  const [, length] = /^hex(\d+)$/.exec(name) ?? []
  if (length) return hex(Number(length))
  switch (name) {
    case 'HEX8':
      return hex(8).toUpperCase()
    case 'HEX10':
      return hex(10).toUpperCase()
    case 'n':
      return String(whole(10 ** (1 + whole(6))))
    case 'day':
      return String(1 + whole(28))
    case 'port':
      return String(1_024 + whole(60_000))
    case 'ip':
      return `${10 + whole(200)}.${whole(256)}.${whole(256)}.${1 + whole(254)}`
    case 'ms':
    case 'sec':
      return (random() * 900).toFixed(3)
    case 'pct':
      return (random() * 100).toFixed(1)
    case 'money':
      return (random() * 1_000).toFixed(2)
    case 'clock':
      return `${two(24)}:${two(60)}:${two(60)}`
    case 'iso':
      return `2026-0${1 + whole(9)}-${two(28)}T${two(24)}:${two(60)}:${two(60)}.${whole(900)}Z`
    case 'uuid':
      return `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`
    case 'mac':
      return Array.from({ length: 6 }, () => hex(2)).join(':')
    case 'base64':
      return chars('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 43)
    case 'alnum':
      return chars('ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789', 14)
    case 'phone':
      return `+${whole(90) + 10}${whole(9_000_000) + 1_000_000}`
    case 'version':
      return `${whole(20)}.${whole(30)}.${whole(20)}`
    case 'email':
      return `${of('user')}@${of('host')}`
    case 'path':
      return `/${Array.from({ length: 2 + whole(3) }, () => of('dirs')).join('/')}/${of('file')}`
    case 'url':
      return `https://${of('host')}/hooks/${of('alnum')}`
    case 'winpath':
      return `C:\\Windows\\System32\\${of('exe')}`
    case 'image':
      return `registry.example.com/${of('app')}:${of('version')}`
    case 'pod':
      return `${of('app')}-${hex(9)}-${chars('bcdfghjklmnpqrstvwxz', 5)}`
    case 'iface':
      return pick([`GigabitEthernet0/${whole(24)}`, `eth${whole(4)}`, `TenGigE1/0/${whole(8)}`, `Vlan${whole(400)}`, 'en0', 'Loopback0'])
    default:
      throw new Error(`unknown value ${name}`)
  }
}
