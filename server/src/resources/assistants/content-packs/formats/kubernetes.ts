import type { ContentPack, PackQuery } from '../pack.ts'

const events: PackQuery = { name: 'events', select: 'count(*)' }
const errors: PackQuery = { name: 'errors', select: 'count(*)', where: "@status = 'error'" }
const crashes: PackQuery = {
  name: 'crashes',
  select: 'count(*)',
  where: "'CrashLoopBackOff' OR 'Back-off restarting failed container' OR 'OOMKilled' OR 'Evicted'",
}

/** Logs of containers with the metadata that collectors add. */
export const kubernetes: ContentPack = {
  id: 'kubernetes',
  name: 'Kubernetes',
  description: 'Events and errors of {dataset} by namespace, pod, container and node.',
  recognizedBy: {
    fields: [
      ['pod', 'namespace'],
      ['pod', 'container'],
    ],
  },
  parameters: [
    {
      type: 'FIELD',
      name: 'pod',
      label: 'Pod',
      of: 'the name of a pod',
      holds: 'text',
      usualNames: ['kubernetes.pod_name', 'kubernetes.pod.name', 'k8s.pod.name', 'pod_name', 'k8s_pod', 'pod'],
    },
    {
      type: 'FIELD',
      name: 'namespace',
      label: 'Namespace',
      of: 'the namespace',
      holds: 'text',
      usualNames: [
        'kubernetes.namespace_name',
        'kubernetes.namespace',
        'kubernetes.pod_namespace',
        'k8s.namespace.name',
        'namespace_name',
        'k8s_namespace',
        'namespace',
      ],
    },
    {
      type: 'FIELD',
      name: 'container',
      label: 'Container',
      of: 'the name of a container',
      holds: 'text',
      usualNames: [
        'kubernetes.container_name',
        'kubernetes.container.name',
        'k8s.container.name',
        'container_name',
        'container.name',
        'container',
      ],
    },
    {
      type: 'FIELD',
      name: 'node',
      label: 'Node',
      of: 'the name of a node',
      holds: 'text',
      usualNames: [
        'kubernetes.node_name',
        'kubernetes.node.name',
        'kubernetes.pod_node_name',
        'k8s.node.name',
        'kubernetes.host',
        'node_name',
        'node',
      ],
    },
    { type: 'NUMBER', name: 'errors', label: 'Errors of a namespace in 15 minutes', default: 100 },
  ],
  widgets: [
    { name: 'Events by namespace', type: 'area', w: 6, h: 4, queries: [{ ...events, groups: ['{namespace}'] }] },
    { name: 'Errors by namespace', type: 'line', w: 6, h: 4, queries: [{ ...errors, groups: ['{namespace}'] }] },
    { name: 'Pods with the most errors', type: 'top-list', w: 4, h: 5, queries: [{ ...errors, groups: ['{pod}'] }] },
    { name: 'Pods with the most events', type: 'top-list', w: 4, h: 5, queries: [{ ...events, groups: ['{pod}'] }] },
    { name: 'Containers with the most events', type: 'top-list', w: 4, h: 5, queries: [{ ...events, groups: ['{container}'] }] },
    { name: 'Events by node', type: 'pie', w: 4, h: 4, queries: [{ ...events, groups: ['{node}'] }] },
    { name: 'Crashes and evictions by pod', type: 'bar', w: 8, h: 4, queries: [{ ...crashes, groups: ['{pod}'] }] },
  ],
  monitors: [
    {
      id: 'namespace-errors',
      name: 'Errors of a namespace: {dataset}',
      description: 'The errors of each namespace.',
      comparison_operator: 'ABOVE',
      threshold: 'errors',
      window: 'Last 15 minutes',
      queries: [{ ...errors, groups: ['{namespace}'] }],
    },
    {
      id: 'crashes',
      name: 'Crashes and evictions: {dataset}',
      description: 'Events about containers that crash, exceed their memory or are evicted, by pod.',
      comparison_operator: 'ABOVE',
      threshold: 0,
      window: 'Last 15 minutes',
      queries: [{ ...crashes, groups: ['{pod}'] }],
    },
    {
      id: 'no-events',
      name: 'No events: {dataset}',
      description: 'No event arrived.',
      comparison_operator: 'BELOW',
      threshold: 1,
      window: 'Last 15 minutes',
      queries: [events],
      withoutEvents: 'ALERT',
    },
  ],
}
