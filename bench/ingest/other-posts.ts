import { hex, numbers, sentence, timeMs } from './otlp-data.ts'
import type { SenderPost } from './sender-posts.ts'
import { post } from './socket-posts.ts'

/** Posts of other programs than those of the comparison, so that no reader is made for one kind of line. */
const programs = [
  'sshd',
  'kernel',
  'nginx',
  'postgres',
  'cron',
  'systemd',
  'dockerd',
  'haproxy',
  'postfix/smtpd',
  'shop-api',
  'shop-web',
  'mail',
]
const pick = <T>(all: readonly T[], n: number): T => all[n % all.length] as T
const iso = (n: number): string => new Date(timeMs(n)).toISOString()
/** A number that does not follow the order of events. */
const spread = (n: number): number => (n * 7_919) % 10_007

const quality = (n: number): string => `[timeQuality tzKnown="1" isSynced="1" syncAccuracy="${spread(n)}"]`
const origin = (n: number): string => `[origin ip="10.0.${n % 250}.${n % 99}" software="rsyslogd" swVersion="8.2302"]`
const shop = (n: number): string =>
  `[shop@32473 user="u-${spread(n)}" plan="${pick(['free', 'team'], n)}" note="say \\"${pick(['hi', 'no'], n)}\\""]`
const data = (n: number): string => pick(['-', quality(n), `${quality(n)}${origin(n)}`, n % 40 === 7 ? shop(n) : origin(n)], spread(n))
const said = (n: number): string =>
  pick(
    [
      `Accepted publickey for deploy from 10.0.${n % 250}.${n % 99} port ${spread(n)} ssh2: RSA SHA256:${hex(n, 24)}`,
      `connection authorized: user=app database=shop application_name=worker SSL enabled (protocol=TLSv1.3, bits=256)`,
      `level=warn msg="slow query" took=${spread(n)}ms table=carts caller="db/query.go:${n % 400}"`,
      `${sentence(n)} [${n % 70}] (${spread(n)} of 10007)`,
      `Started Session ${n} of User root.`,
      `{"took_ms":${spread(n)},"path":"/api/carts/${n}"}`,
    ],
    spread(n),
  )
const router = (n: number): string =>
  `at=info method=${pick(['GET', 'POST'], n)} path="/api/carts/${n}?a=1" host=shop.example.com request_id=${hex(n, 32)} fwd="10.0.${n % 250}.${n % 99}" dyno=web.${n % 4} connect=${n % 5}ms service=${spread(n)}ms status=200 bytes=${spread(n)} protocol=https`
const logfmt = (n: number): string =>
  `ts=${iso(n)} level=${pick(['info', 'info', 'debug', 'warn'], spread(n))} caller=main.go:${n % 400} msg="${sentence(n)}" component=${pick(['tsdb', 'web', 'rules'], n)} duration=${spread(n)}ms err="a \\"b\\" c"`

function drain(header: (n: number) => string, text: (n: number) => string): SenderPost {
  const frames = numbers.map((n) => {
    const message = `<${pick([158, 190], spread(n))}>1 ${iso(n)} ${header(n)} ${text(n)}`
    return Buffer.from(`${Buffer.byteLength(message)} ${message}`)
  })
  return { receiver: 'heroku', path: '/heroku', contentType: 'application/logplex-1', body: Buffer.concat(frames) }
}
const syslog = (text: (n: number) => string): SenderPost =>
  post(
    'syslog',
    numbers.map((n) => Buffer.from(text(n))),
  )

export const otherPosts: Readonly<Record<string, SenderPost>> = {
  'syslog 5424, one program without data': syslog((n) => `<134>1 ${iso(n)} web-${n % 5} shop ${n % 4} - - ${sentence(n)} id=${n}`),
  'syslog 5424, twelve programs': syslog(
    (n) =>
      `<${pick([30, 86, 134, 131], spread(n))}>1 ${iso(n)} web-${n % 5} ${pick(programs, spread(n))} ${spread(n)} ${pick(['-', 'ID47'], n)} ${data(n)} ${said(n)}`,
  ),
  'syslog 5424, JSON messages': syslog(
    (n) =>
      `<134>1 ${iso(n)} web-${n % 5} shop 17 - - {"level":"info","msg":"${sentence(n)}","took_ms":${spread(n)},"user":{"id":${n},"name":"ada"}}`,
  ),
  'syslog 3164, twelve programs': syslog(
    (n) =>
      `<${pick([30, 86, 134], spread(n))}>Jan  1 ${iso(n).slice(11, 19)} web-${n % 5} ${pick(programs, spread(n))}[${spread(n)}]: ${said(n)}`,
  ),
  'Heroku, router': drain(() => 'host heroku router -', router),
  'Heroku, logfmt with quotes': drain((n) => `host app ${pick(['web.1', 'worker.1'], spread(n))} -`, logfmt),
  'Heroku, texts': drain((n) => `host app web.${n % 3} -`, said),
}
