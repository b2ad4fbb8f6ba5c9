import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Holds the service's own metrics and prints them in the Prometheus text format. */
export type Meter = {
  contentType: string
  print(): Promise<string>
  /** Counts one request. The action is a name from the contract, so the number of series is bounded. */
  countRequest(action: string, status: number, seconds: number): void
  /** Registers a value that is read at each scrape. */
  gauge(name: string, help: string, read: () => number): void
  /** Registers values with labels that are read at each scrape. The labels must have few values. */
  gauges(name: string, help: string, labels: readonly string[], read: () => LabeledValues | Promise<LabeledValues>): void
}

export type LabeledValue = { labels: Record<string, string>; value: number }
type LabeledValues = readonly LabeledValue[]

const BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2, 10]

export function openMeter(): Meter {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'dendro_request_seconds',
    help: 'Time from a request to its response',
    labelNames: ['action', 'status'],
    buckets: BUCKETS_S,
    registers: [registry],
  })
  return {
    contentType: registry.contentType,
    print: () => registry.metrics(),
    countRequest: (action, status, seconds) => requests.observe({ action, status }, seconds),
    gauge: (name, help, read) => {
      new Gauge({
        name,
        help,
        registers: [registry],
        collect() {
          this.set(read())
        },
      })
    },
    gauges: (name, help, labelNames, read) => {
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [registry],
        async collect() {
          const values = await read()
          this.reset()
          for (const { labels, value } of values) this.set(labels, value)
        },
      })
    },
  }
}
