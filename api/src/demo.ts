/** Lines for one dataset. */
export type Batch = { collection: string; dataset: string; lines: string[] }

const MINUTE_MS = 60_000
const people = ['ada', 'grace', 'katherine', 'edsger', 'barbara', 'donald', 'radia', 'leslie']
const paths = ['/', '/cart', '/product/4711', '/product/88', '/checkout', '/search?q=lamp', '/static/app.js', '/health']
const TRACE = Array.from({ length: 42 }, (_, at) => `    at step${at} (checkout/payment.ts:${40 + at}:${7 + at})`)

/** An hour of a web shop that ends at nowMs: normal traffic, and some minutes in which the bank declines cards. */
export function shopLines(nowMs: number, perMinute = 40, minutes = 60): Batch[] {
  const random = seeded(7)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const web: string[] = []
  const checkout: string[] = []
  const payments: string[] = []
  for (let minute = 0; minute < minutes; minute += 1) {
    const isBad = minute > 14 && minute < 21
    const share = 0.6 + 0.4 * Math.sin(minute / 5) + random() * 0.3
    for (let at = 0; at < perMinute * share; at += 1) {
      const atMs = Math.floor(nowMs - minute * MINUTE_MS - random() * MINUTE_MS)
      const time = new Date(atMs).toISOString()
      const [user, path, trace] = [pick(people), pick(paths), hex(random, 32)]
      const status = random() < (isBad ? 0.25 : 0.02) ? 502 : random() < 0.06 ? 404 : 200
      web.push(
        JSON.stringify({
          time,
          level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info',
          message: `GET ${path} ${status}`,
          status,
          path,
          user,
          duration_ms: Math.round(8 + random() * (isBad ? 2_400 : 180)),
          client: `10.0.${Math.floor(random() * 4)}.${Math.floor(random() * 250)}`,
          trace_id: trace,
        }),
      )
      if (random() < 0.3) {
        const order = 100_000 + Math.floor(random() * 900_000)
        checkout.push(
          JSON.stringify({
            time,
            level: 'info',
            message: `order ${order} placed by ${user}`,
            order,
            user,
            region: pick(['eu-west', 'us-east', 'ap-south']),
            total: Number((5 + random() * 300).toFixed(2)),
            items: 1 + Math.floor(random() * 6),
            trace_id: trace,
          }),
        )
        if (isBad && random() < 0.6)
          payments.push(
            JSON.stringify({
              time,
              level: 'error',
              message: `payment for order ${order} refused: "bank did not answer" after 2000 ms`,
              order,
              provider: 'northbank',
              attempt: 1 + Math.floor(random() * 3),
              stack: ['PaymentError: bank did not answer', ...TRACE].join('\n'),
              trace_id: trace,
            }),
          )
        else
          payments.push(
            JSON.stringify({
              time,
              level: random() < 0.03 ? 'warn' : 'info',
              message: `payment for order ${order} settled`,
              order,
              provider: pick(['northbank', 'eastcard']),
              fee: Number(random().toFixed(3)),
              trace_id: trace,
            }),
          )
      }
    }
  }
  return [
    { collection: 'shop', dataset: 'web', lines: web },
    { collection: 'shop', dataset: 'checkout', lines: checkout },
    { collection: 'shop', dataset: 'payments', lines: payments },
  ]
}

const hex = (random: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('')

/** Returns a generator of numbers between 0 and 1, the same for the same seed. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}
