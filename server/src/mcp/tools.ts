import type { AgentTool } from './tool.ts'
import { compareTools } from './tools/compare-tools.ts'
import { contentPackTools } from './tools/content-pack-tools.ts'
import { countTools } from './tools/count-tools.ts'
import { createTools } from './tools/create-tools.ts'
import { dataTools } from './tools/data-tools.ts'
import { explainTools } from './tools/explain-tools.ts'
import { monitorTools } from './tools/monitor-tools.ts'
import { notebookTools } from './tools/notebook-tools.ts'
import { patternTools } from './tools/pattern-tools.ts'
import { searchTools } from './tools/search-tools.ts'
import { serviceTools } from './tools/service-tools.ts'
import { spendTools } from './tools/spend-tools.ts'
import { traceTools } from './tools/trace-tools.ts'
import { usageTools } from './tools/usage-tools.ts'

/** Every tool of the agent interface. */
export const agentTools: readonly AgentTool[] = [
  ...dataTools,
  ...countTools,
  ...patternTools,
  ...compareTools,
  ...searchTools,
  ...explainTools,
  ...traceTools,
  ...serviceTools,
  ...monitorTools,
  ...usageTools,
  ...spendTools,
  ...contentPackTools,
  ...createTools,
  ...notebookTools,
]
