import type { Random } from '../../server/src/lines/reference/generated-lines.fixture.ts'

/**
 * Events of pods, whose labels and annotations have different keys. In `kubernetesLines` each pod has one of 120 templates. In `irregularLines` each
 * event has other keys, in another order.
 */
const KEYS = 220
const LABELS = 8
const ANNOTATIONS = 10
const TEMPLATES = 120
const ODD_SHARE = { kubernetes: 0.01, irregular: 0.05 }
const START_MS = Date.UTC(2025, 10, 20)

type LineGenerator = (random: Random) => () => string
/** A key with a generator for its values. */
type GeneratedKey = { name: string; value: (random: Random) => string }
type Template = { namespace: string; app: string; labels: readonly GeneratedKey[]; annotations: readonly GeneratedKey[] }

const hex = (random: Random, digits: number): string => Array.from({ length: digits }, () => random.below(16).toString(16)).join('')
const services = ['api', 'web', 'worker', 'billing', 'mailer', 'ingest', 'search', 'cart', 'stock', 'auth', 'edge', 'report']
const domains = ['app.kubernetes.io', 'helm.sh', 'example.com', 'mesh.example.org', 'prometheus.io', 'team.example.com']
const nouns = ['name', 'part-of', 'version', 'owner', 'revision', 'checksum', 'tier', 'zone', 'sidecar', 'policy', 'port', 'path', 'cost']

const valuesOf: readonly ((random: Random) => string)[] = [
  (random) => random.pick(services),
  (random) => random.pick(['red', 'blue', 'green', 'amber']),
  (random) => `v${random.below(4)}.${random.below(12)}.${random.below(30)}`,
  (random) => hex(random, 16),
  (random) => random.pick(['true', 'false']),
  (random) => String(random.below(65_536)),
  (random) => `/var/run/${random.pick(services)}/${random.below(200)}`,
  (random) => hex(random, 40),
]

const keysOf = (random: Random): GeneratedKey[] =>
  Array.from({ length: KEYS }, (_, at) => ({
    name: at % 3 === 0 ? `${random.pick(domains)}/${random.pick(nouns)}-${at}` : `${random.pick(nouns)}-${at}`,
    value: valuesOf[at % valuesOf.length] ?? String,
  }))

function sample(random: Random, keys: readonly GeneratedKey[], count: number): GeneratedKey[] {
  const chosen = new Set<GeneratedKey>()
  while (chosen.size < count) chosen.add(random.pick(keys))
  return [...chosen]
}

const objectOf = (random: Random, keys: readonly GeneratedKey[], oddShare: number): Record<string, string> => {
  const created: Record<string, string> = {}
  for (const { name, value } of keys) created[name] = value(random)
  if (random.chance(oddShare / 2)) created[`odd-${hex(random, 8)}`] = hex(random, 6)
  return created
}

const templateOf = (random: Random, keys: readonly GeneratedKey[]): Template => ({
  namespace: `team-${random.below(30)}`,
  app: random.pick(services),
  labels: sample(random, keys, LABELS),
  annotations: sample(random, keys, ANNOTATIONS),
})

export const kubernetesLines: LineGenerator = (random) => {
  const keys = keysOf(random)
  const templates = Array.from({ length: TEMPLATES }, () => templateOf(random, keys))
  return podLines(random, () => random.pick(templates), ODD_SHARE.kubernetes)
}

export const irregularLines: LineGenerator = (random) => {
  const keys = keysOf(random)
  return podLines(random, () => templateOf(random, keys), ODD_SHARE.irregular)
}

function podLines(random: Random, next: () => Template, oddShare: number): () => string {
  let timestamp = START_MS
  return () => {
    timestamp += random.below(4)
    const { namespace, app, labels, annotations } = next()
    return JSON.stringify({
      timestamp: new Date(timestamp).toISOString(),
      level: random.pick(['info', 'info', 'info', 'info', 'info', 'warn', 'error', 'debug']),
      message: `${app} handled request ${random.below(10 ** 8)} in ${random.below(900)} ms`,
      stream: random.pick(['stdout', 'stderr']),
      kubernetes: {
        namespace,
        pod: `${app}-${hex(random, 9)}-${hex(random, 5)}`,
        container: app,
        node: `ip-10-1-${random.below(4)}-${random.below(250)}`,
        labels: objectOf(random, labels, oddShare),
        annotations: objectOf(random, annotations, oddShare),
      },
      trace_id: hex(random, 32),
      latency_ms: random.below(90_000) / 100,
    })
  }
}
