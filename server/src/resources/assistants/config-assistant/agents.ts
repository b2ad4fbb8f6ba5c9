import type { AgentType } from '@dendro/api'
import type { Agent } from './agent.ts'
import { alloy } from './agents/alloy.ts'
import { filebeat } from './agents/filebeat.ts'
import { fluentBit } from './agents/fluent-bit.ts'
import { logstash } from './agents/logstash.ts'
import { otelCollector } from './agents/otel-collector.ts'
import { rsyslog } from './agents/rsyslog.ts'
import { vector } from './agents/vector.ts'

/** The supported agents; a new one needs a file and a line here. */
export const agents: readonly Agent[] = [otelCollector, fluentBit, vector, filebeat, logstash, rsyslog, alloy]

export function agentNamed(name: AgentType): Agent {
  const found = agents.find(({ agent }) => agent === name)
  if (!found) throw new Error(`the contract names the agent ${name}, which is not implemented`)
  return found
}
