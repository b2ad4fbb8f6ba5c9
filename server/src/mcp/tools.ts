import type { AgentTool } from './tool.ts'
import { dataTools } from './tools/data-tools.ts'
import { searchTools } from './tools/search-tools.ts'

/** Every tool of the agent interface. */
export const agentTools: readonly AgentTool[] = [...dataTools, ...searchTools]
