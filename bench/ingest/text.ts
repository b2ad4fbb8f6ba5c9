import type { Random } from '../../server/src/lines/reference/generated-lines.fixture.ts'

/**
 * Text lines of sixteen kinds of programs without JSON: each has its own time format, a few messages, and varying values. They come in short runs, as
 * in a log that several programs share.
 */
export function textLines(random: Random, startMs: number): () => { line: string; timeMs: number } {
  let timeMs = startMs
  let system = random.pick(systems)
  let left = 0
  return () => {
    timeMs += random.below(5)
    if (left === 0) {
      system = random.pick(systems)
      left = 1 + random.below(12)
    }
    left -= 1
    return { line: system.head(clockAt(timeMs), random) + random.pick(system.says)(random), timeMs }
  }
}

type Clock = { iso: string; day: string; time: string; month: string; dayOfMonth: string; seconds: number; ms: string }
type Says = (random: Random) => string
type System = { head: (at: Clock, random: Random) => string; says: readonly Says[] }

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
let second = { seconds: -1, clock: { iso: '', day: '', time: '', month: '', dayOfMonth: '', seconds: 0, ms: '' } satisfies Clock }

/** Formats a time, cached for each second. */
function clockAt(timeMs: number): Clock {
  const seconds = Math.floor(timeMs / 1_000)
  if (seconds !== second.seconds) {
    const iso = new Date(seconds * 1_000).toISOString()
    const [month, dayOfMonth] = [MONTHS[Number(iso.slice(5, 7)) - 1] ?? '', iso.slice(8, 10)]
    second = { seconds, clock: { iso, day: iso.slice(0, 10), time: iso.slice(11, 19), month, dayOfMonth, seconds, ms: '' } }
  }
  return { ...second.clock, ms: String(timeMs % 1_000).padStart(3, '0') }
}

const hex = (random: Random, digits: number): string => {
  let text = ''
  while (text.length < digits)
    text += random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0')
  return text.slice(0, digits)
}
const address = (random: Random): string => `10.${random.below(8)}.${random.below(256)}.${1 + random.below(254)}`
const remote = (random: Random): string => `${11 + random.below(180)}.${random.below(256)}.${random.below(256)}.${1 + random.below(254)}`
const host = (random: Random): string => `node-${1 + random.below(24)}`
const user = (random: Random): string =>
  random.pick(['root', 'admin', 'deploy', 'backup', 'postgres', 'guest', 'oracle', 'anna', 'ravi', 'chen'])
const millis = (random: Random): string => (random.below(400_000) / 1_000).toFixed(3)
const port = (random: Random): number => 1_024 + random.below(60_000)
const name = (random: Random): string => random.pick(['orders', 'users', 'invoices', 'carts', 'sessions', 'payments', 'events', 'stock'])
const uuid = (random: Random): string => `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-a${hex(random, 3)}-${hex(random, 12)}`
const syslog = (program: (random: Random) => string) => (at: Clock, random: Random) =>
  `${at.month} ${at.dayOfMonth} ${at.time} ${host(random)} ${program(random)}: `
const javaLevel = (random: Random): string => random.pick(['INFO', 'INFO', 'INFO', 'INFO', 'INFO', 'INFO', 'DEBUG', 'WARN', 'ERROR'])

const blockStore: System = {
  head: (at, random) => `${at.day} ${at.time},${at.ms} ${javaLevel(random)} [worker-${random.below(64)}] storage.BlockReceiver - `,
  says: [
    (r) => `receiving block blk_${r.below(2 ** 31)}_${1_000 + r.below(9_000)} src: /${address(r)}:${port(r)} dest: /${address(r)}:9866`,
    (r) => `block blk_${r.below(2 ** 31)}_${1_000 + r.below(9_000)} of size ${r.below(134_217_728)} stored after ${r.below(4_000)} ms`,
    (r) => `replica of blk_${r.below(2 ** 31)} on ${address(r)}:9866 verified, checksum ${hex(r, 8)}`,
    (r) => `deleting ${1 + r.below(40)} blocks that no file names any more, first blk_${r.below(2 ** 31)}`,
    (r) => `slow write to mirror took ${300 + r.below(3_000)} ms (threshold 300 ms), volume /data/${r.below(12)}/current`,
  ],
}

const login: System = {
  head: syslog((r) => `sshd[${r.below(32_768)}]`),
  says: [
    (r) => `Failed password for invalid user ${user(r)}${r.below(99)} from ${remote(r)} port ${port(r)} ssh2`,
    (r) => `Failed password for ${user(r)} from ${remote(r)} port ${port(r)} ssh2`,
    (r) => `Accepted publickey for ${user(r)} from ${address(r)} port ${port(r)} ssh2: ED25519 SHA256:${hex(r, 43)}`,
    (r) => `Connection closed by authenticating user ${user(r)} ${remote(r)} port ${port(r)} [preauth]`,
    (r) => `Received disconnect from ${remote(r)} port ${port(r)}:11: Bye Bye [preauth]`,
    (r) => `session opened for user ${user(r)}(uid=${r.below(2_000)}) by (uid=0)`,
  ],
}

const kernel: System = {
  head: (at, random) =>
    `${at.month} ${at.dayOfMonth} ${at.time} ${host(random)} kernel: [${at.seconds % 9_000_000}.${random.below(10 ** 6)}] `,
  says: [
    (r) => `eth${r.below(4)}: link is ${r.pick(['up', 'down'])}, ${r.pick([1_000, 10_000, 25_000])} Mbps, full duplex`,
    (r) =>
      `Out of memory: killed process ${r.below(65_536)} (${r.pick(['java', 'node', 'python3'])}) total-vm:${r.below(9_000_000)}kB, anon-rss:${r.below(4_000_000)}kB`,
    (r) => `sd ${r.below(4)}:0:${r.below(4)}:0: [sd${r.pick(['a', 'b', 'c'])}] ${r.below(2 ** 31)} 512-byte logical blocks`,
    (r) => `TCP: request_sock_TCP: possible SYN flooding on port ${port(r)}. Sending cookies.`,
    (r) => `CPU${r.below(64)}: core temperature above threshold, throttled (total events = ${r.below(10_000)})`,
  ],
}

const webAccess: System = {
  head: (at, random) => `${remote(random)} - - [${at.dayOfMonth}/${at.month}/${at.day.slice(0, 4)}:${at.time} +0000] `,
  says: [
    (r) =>
      `"GET /assets/${hex(r, 8)}.js HTTP/1.1" ${r.pick([200, 200, 200, 304])} ${r.below(300_000)} "https://shop.example/" "Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101 Firefox/${100 + r.below(40)}.0"`,
    (r) =>
      `"GET /items/${r.below(90_000)}?page=${r.below(40)} HTTP/2.0" ${r.pick([200, 200, 200, 200, 404, 500])} ${r.below(60_000)} "-" "Mozilla/5.0 (iPhone; CPU iPhone OS 18_${r.below(6)} like Mac OS X)"`,
    (r) => `"POST /api/${name(r)} HTTP/1.1" ${r.pick([201, 201, 400, 422, 503])} ${r.below(900)} "-" "okhttp/4.12.${r.below(4)}"`,
    (r) => `"GET /healthz HTTP/1.1" 200 2 "-" "probe/1.${r.below(9)}"`,
  ],
}

const webError: System = {
  head: (at, random) =>
    `${at.day.replaceAll('-', '/')} ${at.time} [${random.pick(['error', 'error', 'warn', 'notice'])}] ${random.below(64)}#${random.below(64)}: *${random.below(10 ** 7)} `,
  says: [
    (r) =>
      `connect() failed (111: Connection refused) while connecting to upstream, client: ${remote(r)}, server: shop.example, upstream: "http://${address(r)}:8080/${name(r)}"`,
    (r) => `open() "/var/www/html/${hex(r, 6)}.php" failed (2: No such file or directory), client: ${remote(r)}, server: _`,
    (r) =>
      `upstream timed out (110: Connection timed out) while reading response header from upstream, client: ${remote(r)}, request: "GET /${name(r)}/${r.below(99_999)} HTTP/1.1"`,
    (r) => `limiting requests, excess: ${millis(r)} by zone "login", client: ${remote(r)}`,
  ],
}

const database: System = {
  head: (at, random) => `${at.day} ${at.time}.${at.ms} UTC [${random.below(32_768)}] ${user(random)}@${name(random)} `,
  says: [
    (r) => `LOG:  duration: ${millis(r)} ms  statement: SELECT * FROM ${name(r)} WHERE id = ${r.below(10 ** 6)}`,
    (r) => `LOG:  duration: ${millis(r)} ms  execute <unnamed>: UPDATE ${name(r)} SET updated_at = now() WHERE id = $1`,
    (r) => `ERROR:  duplicate key value violates unique constraint "${name(r)}_pkey"`,
    (r) =>
      `LOG:  checkpoint complete: wrote ${r.below(16_384)} buffers (${r.below(100)}.${r.below(10)}%); write=${millis(r)} s, sync=0.${r.below(900)} s, total=${millis(r)} s`,
    (r) => `LOG:  connection authorized: user=${user(r)} database=${name(r)} application_name=pool-${r.below(20)}`,
    (r) => `FATAL:  password authentication failed for user "${user(r)}"`,
  ],
}

const cache: System = {
  head: (at, random) =>
    `${random.below(32_768)}:${random.pick(['M', 'S'])} ${at.dayOfMonth} ${at.month} ${at.day.slice(0, 4)} ${at.time}.${at.ms} ${random.pick(['*', '*', '-', '#'])} `,
  says: [
    (r) => `${1 + r.below(10_000)} changes in ${r.pick([60, 300, 900])} seconds. Saving...`,
    (r) => `Background saving started by pid ${r.below(65_536)}`,
    (r) => `DB saved on disk, ${r.below(900)} MB of memory used by copy-on-write`,
    (r) => `Accepted ${address(r)}:${port(r)}`,
    (r) => `Replica ${address(r)}:6379 asks for synchronization, offset ${r.below(2 ** 31)}`,
  ],
}

const scheduler: System = {
  head: syslog((r) => `CRON[${r.below(32_768)}]`),
  says: [
    (r) => `(${user(r)}) CMD (/usr/local/bin/${r.pick(['rotate', 'backup', 'report', 'sync'])}.sh --target=${name(r)} > /dev/null 2>&1)`,
    (r) => `pam_unix(cron:session): session ${r.pick(['opened', 'closed'])} for user ${user(r)}`,
  ],
}

const orchestrator: System = {
  head: (at, random) =>
    `${random.pick(['I', 'I', 'I', 'W', 'E'])}${at.day.slice(5, 7)}${at.dayOfMonth} ${at.time}.${at.ms}${random.below(900) + 100}    ${1_000 + random.below(900)} `,
  says: [
    (r) =>
      `reconciler.go:${100 + r.below(800)}] started mount for volume "${name(r)}-data" (UniqueName: "kubernetes.io/csi/${uuid(r)}") pod "${name(r)}-${hex(r, 9)}-${hex(r, 5)}"`,
    (r) =>
      `prober.go:${r.below(400)}] readiness probe for "${name(r)}-${hex(r, 9)}-${hex(r, 5)}_prod(${uuid(r)})" failed: HTTP probe failed with statuscode: 503`,
    (r) =>
      `kubelet.go:${r.below(3_000)}] sync loop (PLEG): pod ${uuid(r)} event type ${r.pick(['ContainerStarted', 'ContainerDied'])} data ${hex(r, 64)}`,
    (r) => `eviction_manager.go:${r.below(600)}] attempting to reclaim ephemeral-storage, ${r.below(20)} pods ranked`,
  ],
}

const application: System = {
  head: (at, random) =>
    `${at.day}T${at.time}.${at.ms}Z ${javaLevel(random).padStart(5)} ${random.below(64)} --- [nio-8080-exec-${random.below(200)}] c.example.${name(random)}.Service : `,
  says: [
    (r) => `Order ${r.below(10 ** 8)} confirmed for customer ${r.below(900_000)}, total ${r.below(90_000) / 100} EUR`,
    (r) => `Call to ${name(r)} took ${r.below(5_000)} ms, attempt ${1 + r.below(3)} of 3`,
    (r) => `Could not reserve item ${r.below(90_000)}: ${r.pick(['out of stock', 'locked by another order', 'timeout of the warehouse'])}`,
    (r) => `Evicted ${r.below(5_000)} entries from cache ${name(r)}, hit rate ${(r.below(1_000) / 1_000).toFixed(3)}`,
    (r) => `Token of session ${uuid(r)} refreshed for ${r.below(3_600)} s`,
    (r) => `java.lang.IllegalStateException: cart ${r.below(10 ** 7)} has changed since version ${r.below(40)}`,
  ],
}

const machines: System = {
  head: (at, random) =>
    `- ${at.seconds} ${at.day.replaceAll('-', '.')} R${10 + random.below(54)}-M${random.below(2)}-N${random.below(16)}-C:J${random.below(18)}-U${random.below(12)} `,
  says: [
    (r) => `RAS KERNEL INFO ${r.below(900)} double-hummer alignment exceptions`,
    (r) => `RAS KERNEL INFO CE sym ${r.below(36)}, at 0x${hex(r, 8)}, mask 0x${hex(r, 2)}`,
    () => 'RAS KERNEL INFO instruction cache parity error corrected',
    (r) => `RAS APP FATAL ciod: error reading message prefix after LOGIN_MESSAGE on CioStream socket to ${address(r)}:${port(r)}`,
    (r) => `RAS KERNEL INFO generating core.${r.below(32_768)}`,
  ],
}

const phone: System = {
  head: (at, random) =>
    `${at.day.slice(5)} ${at.time}.${at.ms} ${String(random.below(32_768)).padStart(5)} ${String(random.below(32_768)).padStart(5)} ${random.pick(['D', 'I', 'V', 'W', 'E'])} `,
  says: [
    (r) => `PowerManager: acquire lock=${r.below(2 ** 28)}, flags=0x1, tag="RILJ_ACK_WL", ws=null, uid=${1_000 + r.below(9_000)}`,
    (r) => `WindowManager: startAnimation begin: win=Window{${hex(r, 7)} u0 com.example.${name(r)}} layer=${r.below(90_000)}`,
    (r) => `ActivityManager: Start proc ${r.below(32_768)}:com.example.${name(r)}/u0a${r.below(300)} for broadcast`,
    (r) => `AudioTrack: releaseBuffer() track 0x${hex(r, 8)} disabled due to previous underrun, restarting`,
  ],
}

const firewall: System = {
  head: syslog(() => 'filterlog'),
  says: [
    (r) =>
      `${r.below(200)},,,${r.below(10 ** 9)},igb${r.below(4)},match,${r.pick(['block', 'pass'])},in,4,0x0,,${r.below(255)},${r.below(65_536)},0,DF,6,tcp,${40 + r.below(1_400)},${remote(r)},${address(r)},${port(r)},${r.pick([22, 23, 80, 443, 3_389])},0,S,${r.below(2 ** 31)},,64240,,mss`,
    (r) =>
      `${r.below(200)},,,${r.below(10 ** 9)},igb${r.below(4)},match,pass,out,4,0x0,,64,${r.below(65_536)},0,none,17,udp,${60 + r.below(400)},${address(r)},${remote(r)},${port(r)},53,${r.below(400)}`,
  ],
}

const mail: System = {
  head: syslog((r) => `postfix/${r.pick(['smtp', 'qmgr', 'cleanup', 'smtpd'])}[${r.below(32_768)}]`),
  says: [
    (r) =>
      `${hex(r, 10).toUpperCase()}: to=<${user(r)}${r.below(999)}@example.org>, relay=mx${r.below(4)}.example.org[${remote(r)}]:25, delay=${millis(r)}, delays=0.1/0/0.3/${millis(r)}, dsn=2.0.0, status=sent (250 2.0.0 Ok: queued as ${hex(r, 10).toUpperCase()})`,
    (r) => `${hex(r, 10).toUpperCase()}: from=<${user(r)}@shop.example>, size=${r.below(90_000)}, nrcpt=1 (queue active)`,
    (r) => `connect from unknown[${remote(r)}]`,
    (r) => `${hex(r, 10).toUpperCase()}: message-id=<${uuid(r)}@shop.example>`,
  ],
}

const queue: System = {
  head: (at, random) =>
    `[${at.day} ${at.time},${at.ms}] ${javaLevel(random)} [ReplicaFetcher replicaId=${random.below(6)}, leaderId=${random.below(6)}] `,
  says: [
    (r) => `Truncating partition ${name(r)}-${r.below(48)} to local high watermark ${r.below(10 ** 9)} (log.Log)`,
    (r) => `Rolled new log segment at offset ${r.below(10 ** 9)} in ${r.below(60)} ms. (log.Log)`,
    (r) => `Member consumer-${name(r)}-${uuid(r)} in group ${name(r)} has failed, removing it from the group (coordinator.group)`,
    (r) => `Preparing to rebalance group ${name(r)} with old generation ${r.below(5_000)} (__consumer_offsets-${r.below(50)})`,
  ],
}

const desktop: System = {
  head: (at, random) => `${at.day} ${at.time}, Info                  ${random.pick(['CBS', 'CBS', 'CSI'])}    `,
  says: [
    (r) =>
      `Read out cached package applicability for package: Package_for_KB${2_900_000 + r.below(400_000)}~31bf3856ad364e35~amd64~~6.1.1.${r.below(9)}, ApplicableState: ${r.below(128)}, CurrentState:${r.below(128)}`,
    (r) => `Session: ${r.below(2 ** 31)}_${r.below(2 ** 31)} initialized by client WindowsUpdateAgent.`,
    (r) => `Warning: Unrecognized packageExtended attribute in component ${hex(r, 16)}.`,
    () => 'Loaded Servicing Stack v6.1.7601.23505 with Core: cbscore.dll',
  ],
}

const systems: readonly System[] = [
  blockStore,
  login,
  kernel,
  webAccess,
  webError,
  database,
  cache,
  scheduler,
  orchestrator,
  application,
  machines,
  phone,
  firewall,
  mail,
  queue,
  desktop,
]
