import type { ConfigSource } from '@dendro/api'
import type { ChangeReport, Platform, SourceKind } from './operations.ts'

type Options = NonNullable<ConfigSource['options']>

const PATHS: Readonly<Record<Platform, string>> = {
  linux: '/var/log/*.log',
  kubernetes: '/var/log/*.log',
  docker: '/var/log/*.log',
  windows: 'C:\\ProgramData\\logs\\*.log',
}
const SYSLOG_PORT = 5_514
const OTLP_HTTP_PORT = 4_318
const OTLP_GRPC_PORT = 4_317

const belongsTo: { readonly [Name in keyof Required<Options>]: readonly SourceKind[] } = {
  paths: ['file'],
  units: ['journald'],
  port: ['syslog', 'otlp'],
  grpc_port: ['otlp'],
  protocol: ['syslog'],
}

/** Warns about options that belong to other kinds of sources. */
export function warnMisplacedOptions({ kind, options = {} }: ConfigSource, report: ChangeReport): void {
  for (const [name, kinds] of Object.entries(belongsTo))
    if (options[name as keyof Options] !== undefined && !kinds.includes(kind)) {
      report.warn(`${name} is an option of ${kinds.join(' and ')}, not of ${kind}: it was left out`)
    }
}

export const pathsOf = ({ options }: ConfigSource, platform: Platform): string[] =>
  options?.paths?.length ? [...options.paths] : [PATHS[platform]]

export const unitsOf = ({ options }: ConfigSource): string[] => [...(options?.units ?? [])]

export const syslogOf = ({ options }: ConfigSource): { port: number; protocol: 'tcp' | 'udp' } => ({
  port: options?.port ?? SYSLOG_PORT,
  protocol: options?.protocol ?? 'tcp',
})

/** The OTLP ports and the listen address: reachable from outside in a container, only locally elsewhere. */
export const otlpOf = ({ options }: ConfigSource, platform: Platform): { http: number; grpc: number; host: string } => ({
  http: options?.port ?? OTLP_HTTP_PORT,
  grpc: options?.grpc_port ?? OTLP_GRPC_PORT,
  host: platform === 'kubernetes' || platform === 'docker' ? '0.0.0.0' : '127.0.0.1',
})

/** Names a source within a sentence. */
export function sourceText(source: ConfigSource, platform: Platform): string {
  const { kind } = source
  if (kind === 'file') return `the files ${pathsOf(source, platform).join(', ')}`
  if (kind === 'journald') return unitsOf(source).length > 0 ? `the journal of ${unitsOf(source).join(', ')}` : 'the journal'
  if (kind === 'syslog') return `syslog over ${syslogOf(source).protocol.toUpperCase()} at port ${syslogOf(source).port}`
  if (kind === 'docker') return 'the logs of all Docker containers'
  if (kind === 'kubernetes') return 'the logs of all pods of the node'
  return `OTLP at ${otlpOf(source, platform).host}, ports ${otlpOf(source, platform).grpc} (gRPC) and ${otlpOf(source, platform).http} (HTTP)`
}
