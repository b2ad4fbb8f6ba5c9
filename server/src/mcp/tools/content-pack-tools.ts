import { contract } from '@dendro/api'
import { z } from 'zod'
import { appLink } from '../app-links.ts'
import { counted, verb } from '../counted.ts'
import { confirmArgument, confirmed } from '../previews.ts'
import { type AgentTool, creatingTool, readingTool } from '../tool.ts'
import { given } from './monitor-tools.ts'

const installShape = contract.contentPacks.install.body.shape

const listContentPacks = readingTool({
  name: 'list_content_packs',
  title: 'List ready-made dashboards and monitors',
  description: 'Lists the ready-made dashboards and monitors that suit the events of the datasets, and those that exist already.',
  permissions: ['search_read'],
  input: z.strictObject({
    dataset_id: z.guid({ error: 'must be the id of a dataset, from list_datasets' }).optional(),
    limit: z.int().min(1).max(100).default(20),
  }),
  output: { facts: { content_packs_total: z.int() }, data: { content_packs: z.array(z.looseObject({ pack: z.string() })) } },
  run: async ({ dataset_id, limit }, context) => {
    const { offers } = await context.call(contract.contentPacks.list, { query: given({ dataset_id, system: true, limit: 100 }) })
    return {
      summary: `${counted(offers.length, 'content pack')} ${verb(offers.length, 'suits', 'suit')} the datasets.`,
      link: appLink(context, 'dashboards', {}),
      facts: { content_packs_total: offers.length },
      data: { content_packs: context.cuts.rows(offers, limit, 'use dataset_id or raise limit') },
    }
  },
})

const createFromContentPack = creatingTool({
  name: 'create_from_content_pack',
  title: 'Create a ready-made dashboard with monitors',
  description: 'Creates the dashboard and the chosen monitors of a content pack for a dataset. The preview has the values of every query.',
  permissions: ['dashboards_write', 'search_read'],
  input: z.strictObject({
    pack: z.string().min(1).max(255).describe('From list_content_packs, such as `access-logs`.'),
    dataset_id: z.guid({ error: 'must be the id of a dataset, from list_datasets' }),
    parameters: installShape.parameters,
    monitors: installShape.monitors,
    actions: installShape.actions,
    ...confirmArgument,
  }),
  output: {
    preview: {
      facts: { widgets: z.int(), monitors_offered: z.array(z.string()) },
      data: { would_create: z.looseObject({}), parameters: z.unknown() },
    },
    made: { dashboard_id: z.string(), monitor_ids: z.array(z.string()) },
  },
  run: (args, context) =>
    confirmed(args, context, {
      preview: async ({ pack, dataset_id, parameters }) => {
        const body = { dataset_id, parameters }
        const found = await context.call(contract.contentPacks.preview, { params: { packId: pack }, body })
        const { dashboard, monitors } = found
        return {
          summary: `A dashboard with ${counted(dashboard.widgets.length, 'widget')}; ${counted(monitors.length, 'monitor')} ${verb(monitors.length, 'is', 'are')} offered.`,
          facts: { widgets: dashboard.widgets.length, monitors_offered: monitors.map(({ id }) => id) },
          data: { would_create: { dashboard, monitors, left_out: found.left_out }, parameters: found.parameters },
        }
      },
      create: async ({ pack, ...body }) => {
        const made = await context.call(contract.contentPacks.install, { params: { packId: pack }, body: given(body) as never })
        return {
          summary: 'The dashboard and the chosen monitors exist.',
          link: appLink(context, 'dashboards', { id: made.dashboard?.id }),
          facts: { dashboard_id: made.dashboard?.id, monitor_ids: made.monitors.map(({ monitor_id }) => monitor_id) },
        }
      },
    }),
})

export const contentPackTools: readonly AgentTool[] = [listContentPacks, createFromContentPack]
