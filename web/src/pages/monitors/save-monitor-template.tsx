import type { Monitor } from '@dendro/api'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useClient } from '../../parts/shell/client.ts'
import { saveMetricTemplate } from '../../parts/templates/metric-templates.tsx'
import { SaveAsTemplate } from '../../parts/templates/save-as-template.tsx'

/** Saves a monitor as a template, and its queries as a metric template. */
export function SaveMonitorTemplate({ monitor }: { monitor: Monitor }) {
  const client = useClient()
  const [savedId, setSavedId] = useState<string>()
  return (
    <SaveAsTemplate
      name={monitor.name}
      kinds={['monitor', 'metric']}
      onSave={async (name) => setSavedId(await saveMonitorTemplate(client, monitor, name))}
    >
      Saved.{' '}
      <Link to="/monitors" search={{ view: 'templates', ...(savedId ? { edit: savedId } : {}) }} className="text-accent underline">
        Add parameters
      </Link>
    </SaveAsTemplate>
  )
}

async function saveMonitorTemplate(client: ReturnType<typeof useClient>, monitor: Monitor, name: string): Promise<string> {
  const { queries, formulas, description, actions, threshold, warning_threshold } = monitor
  const { comparison_operator, window, no_data_status, notify_once, group_retention, aux, monitor_type, tags } = monitor
  const { compare_to, change_type, evaluation_window, anomaly_algorithm } = monitor
  const metric = await saveMetricTemplate(client, { name, queries, formulas })
  const targets = actions.map(({ email, integration_id }) => ({
    ...(email ? { email } : {}),
    ...(integration_id ? { integration_id } : {}),
  }))
  const body = {
    name,
    comparison_operator,
    window,
    monitor_type,
    threshold: String(threshold),
    actions: JSON.stringify(targets),
    notify_once: String(notify_once),
    metric: { id: metric, arguments: {} },
    parameters: {},
    this_template_tags: tags,
    ...(description ? { description } : {}),
    ...(warning_threshold === undefined ? {} : { warning_threshold: String(warning_threshold) }),
    ...(no_data_status ? { no_data_status } : {}),
    ...(group_retention === undefined ? {} : { group_retention }),
    ...(aux ? { aux } : {}),
    ...(compare_to ? { compare_to } : {}),
    ...(change_type ? { change_type } : {}),
    ...(evaluation_window ? { evaluation_window } : {}),
    ...(anomaly_algorithm ? { anomaly_algorithm } : {}),
  }
  return (await client.monitorTemplates.create({ body })).id
}
