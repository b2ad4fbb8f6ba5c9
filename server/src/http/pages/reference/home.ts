import { icon, style } from './assets.ts'
import { html } from './html.ts'

export type HomeFacts = { baseUrl: string; version: string; region: string; problems: readonly string[] }

/** homePage shows the state of the service and links, where the web app is not built. */
export function homePage(facts: HomeFacts): string {
  const isHealthy = facts.problems.length === 0
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Dendro</title>
<link rel="icon" href="${icon.address}" type="image/svg+xml">
<link rel="stylesheet" href="${style.address}">
</head>
<body class="home">
<main>
<img src="${icon.address}" alt="" width="56" height="56">
<h1>Dendro</h1>
<p class="lead">Log management: send, search, watch and account for your logs.</p>
<p class="state ${isHealthy ? 'well' : 'ill'}">${isHealthy ? 'Healthy' : `Unhealthy: ${facts.problems.join('; ')}`}</p>
<p class="links"><a class="button" href="/docs">API reference</a> <a href="/openapi.json">OpenAPI</a> <a href="/health">Health</a></p>
<div class="code"><pre tabindex="0"><code>curl -H "X-SERVICE-API-KEY: $DENDRO_API_KEY" ${facts.baseUrl}/datasets</code></pre></div>
<p class="note">Version ${facts.version}, region ${facts.region}</p>
</main>
</body>
</html>
`.markup
}

/** prefersJson is true when an Accept header prefers JSON to HTML. */
export function prefersJson(accept: string): boolean {
  const wanted = accept.split(',').map((part, order) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, order, weight: weight === undefined ? 1 : Number(weight.slice(2)) || 0 }
  })
  const json = wanted.find(({ type, weight }) => type === 'application/json' && weight > 0)
  const page = wanted.find(({ type, weight }) => type === 'text/html' && weight > 0)
  if (!json || !page) return json !== undefined
  return json.weight === page.weight ? json.order < page.order : json.weight > page.weight
}
