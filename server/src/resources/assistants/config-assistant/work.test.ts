import type { AgentType, ConfigChanges, ConfigSource } from '@dendro/api'
import { describe, expect, test } from 'vitest'
import { agentNamed, agents } from './agents.ts'
import { unifiedDiff } from './diff.ts'
import { posixExpression } from './expressions.ts'
import { readWords } from './vocabulary.ts'
import { changeConfig, writeConfig } from './work.ts'

const to = { url: 'https://logs.example.org' }
const place = { collection: 'shop', dataset: 'web' }
const file: ConfigSource = { kind: 'file', options: { paths: ['/srv/app/*.log'] } }

const sources: readonly ConfigSource[] = [
  file,
  { kind: 'journald', options: { units: ['nginx.service'] } },
  { kind: 'syslog', options: { port: 6514, protocol: 'udp' } },
  { kind: 'docker' },
  { kind: 'kubernetes' },
  { kind: 'otlp' },
]

const wishes: Readonly<Record<string, ConfigChanges>> = {
  'parse JSON': { options: { parse: 'json' } },
  'parse logfmt': { options: { parse: 'logfmt' } },
  'redact what has a name': { options: { redact: ['email', 'ip'] } },
  'redact by an expression': { options: { redact: ['key="[^"]+"\\$'] } },
  'drop lines': { options: { drop: ["(?i)\\bdebug\\b|it's"] } },
  'sample 10 of a hundred': { options: { sample_percent: 10 } },
  'batch 200 events, 3 seconds': { options: { batch_size: 200, batch_seconds: 3 } },
  'compress by zstd': { options: { compression: 'zstd' } },
  'give up after five minutes': { options: { retry_seconds: 300 } },
  'TLS with a private authority': { options: { tls: { ca_file: '/etc/ssl/own.pem', verify: true } } },
  'send errors to another dataset': { options: { routes: [{ match: 'fatal|out of memory', dataset: 'errors' }] } },
  'read another file with long events': {
    sources: [{ kind: 'file', options: { paths: ['/srv/trace.log'] } }],
    options: { multiline: '^\\[' },
  },
  'send to another dataset': { collection: 'lab', dataset: 'bench', tags: { team: 'a' } },
}

const said = ({ reasons, warnings }: { reasons: readonly string[]; warnings: readonly string[] }): string =>
  [...reasons.map((reason) => `> ${reason}\n`), ...warnings.map((warning) => `! ${warning}\n`)].join('')

describe.each(agents.map((one) => ({ one, name: one.agent })))('$name', ({ one, name }) => {
  const base = writeConfig(one, { ...place, sources: [file] }, to).config

  test('writes every source and does every wish as the cases show', async () => {
    const written = sources.map((source) => {
      const work = writeConfig(one, { ...place, sources: [source] }, to)
      return `=== write: ${source.kind}\n${said(work)}${work.config}`
    })
    const changed = Object.entries(wishes).map(([wish, changes]) => {
      const work = changeConfig(one, base, changes, to)
      return `=== change: ${wish}\n${said(work)}${work.diff}`
    })
    await expect([...written, ...changed].join('\n')).toMatchFileSnapshot(`cases/${name}.txt`)
  })

  test('finds no fault with what it wrote itself, and writes the same again', () => {
    const all: ConfigChanges = { ...place, sources: sources.filter(({ kind }) => one.sources.includes(kind)) }
    for (const changes of Object.values(wishes)) {
      const wish = { ...all, ...changes, sources: [...(all.sources ?? []), ...(changes.sources ?? [])] }
      const { config } = writeConfig(one, wish, to)
      expect(one.problems(config)).toEqual([])
      expect(writeConfig(one, wish, to).config).toBe(config)
      const again = changeConfig(one, config, { options: { drop: ['noise'] } }, to)
      expect(one.problems(again.config)).toEqual([])
      expect(again.diff).not.toBe('')
    }
  })

  test('says of every wish that it was done or that it cannot be', () => {
    for (const [wish, changes] of Object.entries(wishes)) {
      const { reasons, warnings } = changeConfig(one, base, changes, to)
      expect(reasons.length + warnings.length, wish).toBeGreaterThan(0)
    }
    const unsupported = sources.filter(({ kind }) => !one.sources.includes(kind))
    for (const source of unsupported)
      expect(writeConfig(one, { sources: [source] }, to).warnings.join(), source.kind).toContain(source.kind)
  })

  test('keeps the collection, the dataset, the tags and the key that a change does not name', () => {
    const team = (name: string) => ({ tags: { team: name } })
    const write = (changes: ConfigChanges) =>
      writeConfig(one, { ...place, ...team('a'), sources: [file], ...changes }, to).config.replaceAll('DENDRO_API_KEY', 'SHIPPER_KEY')
    // Comments tell for which dataset the file was written.
    const plain = (text: string) => text.replaceAll(/^#.*\n|.*# to this deployment.*\n|.*\/\/ to this deployment.*\n/gm, '')
    const change = (changes: ConfigChanges) => plain(changeConfig(one, write({}), changes, to).config)
    expect(change({})).toBe(plain(write({})))
    expect(change({ dataset: 'bench' })).toBe(plain(write({ dataset: 'bench' })))
    expect(change({ collection: 'lab' })).toBe(plain(write({ collection: 'lab' })))
    expect(change(team('b'))).toBe(plain(write(team('b'))))
    expect(changeConfig(one, write({}), team('b'), to).reasons.join()).toContain('dataset web of collection shop')
  })

  test('changes a dataset whose name has a quote', () => {
    const written = writeConfig(one, { collection: 'default', dataset: "o'clock", sources: [file] }, to).config
    expect(changeConfig(one, written, { dataset: 'bench' }, to).config).not.toContain("o'clock';")
    expect(changeConfig(one, written, { dataset: 'bench' }, to).config).toContain('bench')
  })

  test('reads an address with a broken escape', () => {
    const written = writeConfig(one, { collection: 'lab', dataset: 'bench', sources: [file] }, to).config
    const { config } = changeConfig(one, written.replace('/ingest/lab/', '/ingest/%zz/'), { dataset: 'web' }, to)
    expect(config).toContain('web')
  })

  test('keeps the key out of the file', () => {
    expect(base).toContain('DENDRO_API_KEY')
    expect(base.toLowerCase()).not.toContain('dk_')
  })
})

const collector = `# our collector, do not touch
receivers:
    otlp:   # from the shops
        protocols: {grpc: {}, http: {}}
processors:
    batch:
exporters:
    debug: { verbosity: detailed }   # loud
service:
    pipelines:
        logs:
            receivers: [otlp]
            processors: [batch]
            exporters: [ debug ]
`

const agent = agentNamed('otel-collector')

describe('a file of another origin', () => {
  test('is made to send here as well, with its comments, order and width of indentation as they were', () => {
    const { config, diff } = changeConfig(agent, collector, {}, to)
    const removed = diff.split('\n').filter((line) => /^-[^-]/.test(line))
    expect(removed).toEqual(['-            exporters: [ debug ]'])
    expect(config).toContain('exporters: [debug, otlphttp/dendro]')
    expect(agent.problems(config)).toEqual([])
  })

  test('keeps the line ends of Windows', () => {
    const { config } = changeConfig(agent, collector.replaceAll('\n', '\r\n'), {}, to)
    expect(config.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
  })

  test('gets a processor before the batches, and nothing of the rest changes', () => {
    const { config, warnings } = changeConfig(agent, collector, { options: { redact: ['email'] } }, to)
    expect(config).toContain('processors: [transform/redact, batch]')
    expect(config).not.toContain('otlphttp/dendro')
    expect(warnings).toEqual([])
  })

  test('that is no configuration is refused with its line', () => {
    expect(agent.problems('receivers: [\n')[0]?.line).toBeGreaterThan(0)
    expect(agent.problems('- a\n- b\n')).toHaveLength(1)
    expect(agent.problems('a: 1\na: 2\n')).toEqual([{ line: 2, message: 'the key a stands twice' }])
    expect(agent.problems('['.repeat(60_000)).length).toBeGreaterThan(0)
    expect(() => changeConfig(agent, 'receivers: [\n', {}, to)).toThrow()
  })

  test('is looked over for names that lead nowhere', () => {
    const broken = collector.replace('exporters: [ debug ]', 'exporters: [nowhere]').replace('processors:\n', 'procesors:\n')
    const problems = agent.problems(broken)
    expect(problems.map(({ message }) => message)).toEqual([
      'the collector knows no section procesors',
      'the pipeline logs names batch, which is not among the processors',
      'the pipeline logs names nowhere, which is not among the exporters',
    ])
    expect(problems[2]?.line).toBe(14)
  })
})

describe('words', () => {
  test('become the wishes they mean', () => {
    const { changes: wish, unknown } = readWords(
      `Collect /var/log/nginx/*.log and the journal of nginx.service. Parse JSON, redact e-mails and card numbers, drop debug lines,
      keep 10% and batch 500 events every 5 seconds; retry for ever. Send errors matching "fatal|panic" to dataset errors,
      everything else to collection shop dataset web. Please dance.`,
    )
    expect(wish).toEqual({
      ...place,
      sources: [
        { kind: 'file', options: { paths: ['/var/log/nginx/*.log'] } },
        { kind: 'journald', options: { units: ['nginx.service'] } },
      ],
      options: {
        parse: 'json',
        redact: ['email', 'card'],
        drop: ['(?i)\\bdebug\\b'],
        sample_percent: 10,
        batch_size: 500,
        batch_seconds: 5,
        retry_seconds: 0,
        routes: [{ match: 'fatal|panic', dataset: 'errors' }],
      },
    })
    expect(unknown).toEqual(['Please dance'])
  })

  test('that the form gives as an example are understood, and the rule matches the word', () => {
    const { changes, unknown } = readWords('leave out lines with healthcheck, and send every 5 seconds')
    expect(unknown).toEqual([])
    expect(changes.options).toMatchObject({ batch_seconds: 5 })
    const [rule = ''] = changes.options?.drop ?? []
    const matches = (line: string) => new RegExp(rule.replace('(?i)', ''), 'i').test(line)
    expect(['GET /healthcheck 200', 'Health-Check passed', 'GET /healthz 200', 'GET /cart 200'].map(matches)).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(readWords('drop lines with a.b').changes).toEqual({ options: { drop: ['a\\.b'] } })
    expect(readWords('flush every 2 minutes').changes).toEqual({ options: { batch_seconds: 120 } })
  })

  test('without a known meaning are returned as unknown', () => {
    expect(readWords('make it nice')).toEqual({ changes: {}, unknown: ['make it nice'] })
    expect(readWords('drop lines like "syslog in json"').changes).toEqual({ options: { drop: ['syslog in json'] } })
  })
})

test('a file in a language of its own that cannot be read names the line, and names that lead nowhere are found', () => {
  const problemsOf = (name: AgentType, text: string) => agentNamed(name).problems(text)
  expect(problemsOf('rsyslog', 'module(load="imfile"\n')).toEqual([{ line: 1, message: '( is opened and never closed' }])
  expect(problemsOf('rsyslog', '# a "quote\naction(type="omfile" file="/x" template="none")\n')).toEqual([
    { line: 2, message: 'the template none is not there' },
  ])
  expect(problemsOf('alloy', 'loki.source.file "a" {\n  forward_to = [loki.write.b.receiver]\n}\n')).toEqual([
    { line: 2, message: 'loki.write.b is named and not there' },
  ])
  expect(problemsOf('logstash', 'input { }\noutput {\n  if [a] =~ /it"s {3}/ { http { url => "x" } }\n}\nfilters { }\n')).toEqual([
    { line: 5, message: 'Logstash knows no section filters' },
    { line: 3, message: 'the output http has no http_method' },
  ])
  expect(problemsOf('alloy', 'logging {\n  level = "info\n}\n')).toHaveLength(1)
})

test('a hostile file is looked over in a moment', () => {
  const hostile = [
    '['.repeat(60_000),
    'a'.repeat(130_000),
    ` ${'a {}\n'.repeat(20_000)}`,
    ' '.repeat(130_000),
    '"'.repeat(20_000),
    'a(\n'.repeat(30_000),
  ]
  for (const text of hostile)
    for (const agent of agents) expect(agent.problems(text).length, `${agent.agent}: ${text.slice(0, 10)}`).toBeLessThan(101)
})

test('modules of rsyslog are loaded next to the others, and the rest of the file stays in place', () => {
  const { config } = changeConfig(agentNamed('rsyslog'), 'module(load="imuxsock")   # local\n*.* /var/log/all\n', {}, to)
  expect(config).toMatch(/^module\(load="imuxsock"\) {3}# local\nmodule\(load="omelasticsearch"\)\n\*\.\* \/var\/log\/all\n/)
  expect(config).toMatch(/\ncall dendro\n$/)
})

test('a diff shows what changed with three lines around it, and nothing of two files that are one', () => {
  const before = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', ''].join('\n')
  expect(unifiedDiff(before, before)).toBe('')
  expect(unifiedDiff(before, before.replace('e\n', 'E\nEE\n'))).toBe(
    '--- before\n+++ after\n@@ -2,7 +2,8 @@\n b\n c\n d\n-e\n+E\n+EE\n f\n g\n h\n',
  )
  expect(unifiedDiff('', 'a\n')).toBe('--- before\n+++ after\n@@ -0,0 +1,1 @@\n+a\n')
})

test('an expression is written for programs that know only POSIX ones, or not at all', () => {
  expect(posixExpression('(?i)\\d+ (?:a|b)')).toEqual({ text: '[0-9]+ (a|b)', ignoresCase: true })
  for (const beyond of ['a+?', '(?=a)', '[\\d_]', '\\pL']) expect(posixExpression(beyond), beyond).toBeUndefined()
})
