import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { contract } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig, settings } from '../server/src/config.ts'
import { openTestApp } from './support/world.ts'

/** What `deploy/` offers, checked by the tools that will read it. A tool that this machine lacks is named. */
const DEPLOY = join(import.meta.dirname, '../deploy')

const has = (program: string): boolean => {
  const isThere = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
  if (!isThere) process.stderr.write(`SKIPPED, LOUDLY: ${program} is not there, so its files in deploy/ are not checked by it\n`)
  return isThere
}

/** Runs a program in a folder and returns what it printed, which the failure shows. */
function run(folder: string, program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  expect(`${program} ended with ${status}\n${status === 0 ? '' : stdout + stderr}`).toBe(`${program} ended with 0\n`)
  return stdout
}

let work = ''
/** The names of all metrics that a process prints. */
let metrics: ReadonlySet<string> = new Set()
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'dendro-deploy-'))
  const place = { DENDRO_BACKUP_URL: `file://${work}`, DENDRO_EXPORT_URL: `file://${work}` }
  const app = await openTestApp(place, () => [])
  const { body } = await app.ask<string>('GET', '/metrics', { key: app.managementKey }).finally(() => app.close())
  const typed = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
  metrics = new Set(
    typed.flatMap(([, name = '', type]) => (type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name])),
  )
})
afterAll(() => rmSync(work, { recursive: true }))

/** Metrics of the service's own children and of cold storage, which tests replace by servers, and of Prometheus itself. */
const ELSEWHERE = new Set(['up', 'dendro_events_store_restarts', 'dendro_meta_store_restarts', 'dendro_cold_storage_up'])
const metricsIn = (expression: string): string[] =>
  [...expression.matchAll(/\b(?:dendro_|process_|nodejs_)\w+|\bup\b/g)].map(([name]) => name).filter((name) => !ELSEWHERE.has(name))

/** An endpoint without the names of its parameters. */
const plain = (endpoint: string): string => endpoint.replaceAll(/\{\w+\}/g, '{}')

type AlertRule = { alert: string; expr: string; annotations: { summary: string; action: string } }
const alertFile = (): { groups: { rules: AlertRule[] }[] } => parse(readFileSync(join(DEPLOY, 'prometheus/alerts.yml'), 'utf8'))
const alerts = (): AlertRule[] => alertFile().groups.flatMap(({ rules }) => rules)

describe('alert rules', () => {
  test('name metrics that there are, and an action', () => {
    expect(alerts().length).toBeGreaterThan(10)
    for (const { alert, expr, annotations } of alerts()) {
      expect(metricsIn(expr).filter((name) => !metrics.has(name), alert)).toEqual([])
      expect(Object.keys(annotations), alert).toEqual(['summary', 'action'])
    }
  })

  test('cover what docs/operations.md says is up or down', () => {
    const page = readFileSync(join(DEPLOY, '../docs/operations.md'), 'utf8')
    const watched = [...page.matchAll(/^\| .*`(dendro_\w+(?<!given)_up)`/gm)].map(([, name = '']) => name)
    expect(watched.length).toBeGreaterThan(1)
    expect(watched.filter((name) => !alerts().some(({ expr }) => expr === `${name} == 0`))).toEqual([])
  })

  test('send people to endpoints that there are', () => {
    const known = new Set(
      Object.values(contract).flatMap((group) => Object.values(group).map(({ method, path }) => plain(`${method} ${path}`))),
    )
    const named = alerts().flatMap(({ annotations }) => [...annotations.action.matchAll(/\b(?:GET|POST) \/\S+/g)].map(([text]) => text))
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((text) => !known.has(plain(text)))).toEqual([])
  })

  test.skipIf(!has('promtool'))('pass the check and their tests in Prometheus', () => {
    const folder = join(DEPLOY, 'prometheus')
    run(folder, 'promtool', 'check', 'rules', 'alerts.yml')
    run(folder, 'promtool', 'test', 'rules', 'alerts.test.yml')
  })
})

describe('the dashboard', () => {
  type Panel = { id: number; title: string; gridPos: { x: number; y: number; w: number; h: number }; targets: { expr: string }[] }
  const panels: Panel[] = JSON.parse(readFileSync(join(DEPLOY, 'grafana/dendro.json'), 'utf8')).panels
  const expressions = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })))

  test('draws metrics that there are', () => {
    expect(expressions.length).toBeGreaterThan(15)
    for (const { title, expr } of expressions) {
      expect(metricsIn(expr), title).not.toEqual([])
      expect(
        metricsIn(expr).filter((name) => !metrics.has(name)),
        title,
      ).toEqual([])
    }
  })

  test('has panels that do not overlap, each with a number of its own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })

  test.skipIf(!has('promtool'))('has expressions that Prometheus reads', () => {
    // Grafana fills these in.
    const filled = expressions.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'))
    const rules = filled.map((expr, index) => ({ record: `panel_${index}`, expr }))
    writeFileSync(join(work, 'panels.json'), JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    run(work, 'promtool', 'check', 'rules', 'panels.json')
  })
})

describe('units of systemd', () => {
  test.skipIf(!has('systemd-analyze'))('are valid', () => {
    for (const unit of ['dendro.service', 'dendro@.service']) {
      cpSync(join(DEPLOY, 'systemd', unit), join(work, unit))
      run(work, 'systemd-analyze', 'verify', '--man=no', `./${unit}`)
    }
  })

  test.each(['dendro.service', 'dendro@.service'])('%s sets what the service reads', (unit) => {
    const text = readFileSync(join(DEPLOY, 'systemd', unit), 'utf8').replaceAll('%i', 'ingest')
    expectValid(Object.fromEntries([...text.matchAll(/\b(DENDRO_\w+)=(\S+)/g)].map(([, name = '', value]) => [name, value])))
  })
})

/** The settings exist and the service takes their values. */
function expectValid(env: Readonly<Record<string, unknown>>): void {
  const texts = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value ?? '')]))
  expect(Object.keys(texts).filter((name) => !Object.hasOwn(settings, name))).toEqual([])
  expect(() => readConfig(texts)).not.toThrow()
}

describe('compose files', () => {
  type Compose = { services: Record<string, { image: string; environment?: Record<string, string> }> }
  /** As compose fills in variables: the default, else a value that every required one accepts. */
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\w+(?::-([^}]*)|:\?)\}/g, (_, given?: string) => given ?? '0123456789abcdef'.repeat(4))
  const read = (file: string): Compose => parse(filled(readFileSync(join(DEPLOY, file), 'utf8')), { merge: true })

  test.each(['compose.yml', 'compose.processes.yml'])('%s sets what the service reads', (file) => {
    const dendro = Object.values(read(file).services).filter(({ image }) => image.startsWith('dendro:'))
    expect(dendro.length).toBeGreaterThan(0)
    for (const { environment = {} } of dendro) expectValid(environment)
  })

  test('the processes together have every role, once', () => {
    const roles = Object.values(read('compose.processes.yml').services).map(({ environment }) => environment?.DENDRO_ROLES)
    expect(roles.filter((role) => role !== undefined).toSorted()).toEqual(['api', 'ingest', 'work'])
  })
})

describe('the chart', () => {
  const chart = join(DEPLOY, 'helm/dendro')
  const version = (): string => JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8')).version

  test('has the version of the service', () => {
    const { version: own, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))
    expect([own, appVersion]).toEqual([version(), version()])
  })

  test('has a schema for every value', () => {
    const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))
    expect(Object.keys(values).filter((name) => !Object.hasOwn(schema.properties, name))).toEqual([])
    expect(globSync('templates/*', { cwd: chart }).length).toBeGreaterThan(4)
  })

  const SERVERS = [
    '--set',
    'stores=servers,ingress.enabled=true,ingress.host=logs.example.org,ingress.tlsSecret=tls,tls.secretName=certificate,podMonitor.enabled=true,podMonitor.keySecret.name=key',
  ]
  const LISTENER = ['--set-json', 'listenerPorts=[{"name":"syslog","port":1514,"protocol":"TCP"}]']
  const SETTINGS = ['--set', 'settings.DENDRO_PUBLIC_URL=https://logs.example.org']
  describe.skipIf(!has('helm')).each([
    ['with embedded stores', [], ['StatefulSet', 'Service']],
    ['with servers', SERVERS, ['Deployment', 'PodDisruptionBudget', 'Service', 'Ingress', 'PodMonitor']],
  ] as const)('%s', (_name, values, kinds) => {
    type Probe = { httpGet: { scheme: string } }
    type Container = {
      env: { name: string; value: string }[]
      volumeMounts: { mountPath: string }[]
      readinessProbe: Probe
      livenessProbe: Probe
    }
    type Resource = { kind: string; spec: { template?: { spec: { containers: Container[] } } } }
    const given = ['--set', 'secretName=secrets', ...values, ...LISTENER, ...SETTINGS]
    let rendered = ''
    const render = (): Resource[] => {
      rendered = run(chart, 'helm', 'template', 'logs', '.', '--kube-version', '1.31.0', ...given)
      return parseAllDocuments(rendered).flatMap((one) => one.toJS() ?? [])
    }

    test('passes the checks of Helm, and sets what the service reads', () => {
      run(chart, 'helm', 'lint', '.', ...given)
      const resources = render()
      expect(new Set(resources.map(({ kind }) => kind))).toEqual(new Set(kinds))
      const containers = resources.flatMap(({ spec }) => spec.template?.spec.containers ?? [])
      for (const { env } of containers) expectValid(Object.fromEntries(env.map(({ name, value }) => [name, value])))
      const roles = containers.flatMap(({ env }) => env.find(({ name }) => name === 'DENDRO_ROLES')?.value.split(',') ?? [])
      expect(roles.toSorted()).toEqual(['api', 'ingest', 'work'])
      const hasTls = given.some((one) => one.includes('tls.secretName'))
      for (const { env, volumeMounts, readinessProbe, livenessProbe } of containers) {
        const certificate = env.find(({ name }) => name === 'DENDRO_TLS_CERT')?.value
        expect([certificate, volumeMounts.some(({ mountPath }) => mountPath === '/tls')]).toEqual([
          hasTls ? '/tls/tls.crt' : undefined,
          hasTls,
        ])
        expect([readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.scheme)).toEqual(hasTls ? ['HTTPS', 'HTTPS'] : ['HTTP', 'HTTP'])
      }
    })

    test.skipIf(!has('kubernetes-validate'))('fits the schemas of Kubernetes', () => {
      render()
      // A resource of an operator has no schema there.
      writeFileSync(
        join(work, 'rendered.yaml'),
        rendered
          .split(/^---$/m)
          .filter((one) => !one.includes('kind: PodMonitor'))
          .join('---'),
      )
      run(work, 'kubernetes-validate', '--strict', '--quiet', 'rendered.yaml')
    })
  })

  test.skipIf(!has('helm'))('is refused without the secrets', () => {
    const { status, stderr } = spawnSync('helm', ['template', 'logs', '.', '--kube-version', '1.31.0'], { cwd: chart, encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringContaining('secretName')])
  })
})
