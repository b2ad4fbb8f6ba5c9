import { type Html, html } from './html.ts'

/** The facts that hold for every endpoint. */
export const introduction = (
  facts: { baseUrl: string; version: string },
  failureFields: Html,
): Html => html`<section id="introduction" class="group">
<h1>API reference</h1>
<p class="lead">All functions of Dendro are available through this API. This page is generated from the contract that validates each request, so it matches the service at
<code>${facts.baseUrl}</code> (version ${facts.version}). For tools there is an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p>
<h2>Credentials</h2>
<p>Send an API key in <code>X-SERVICE-API-KEY</code>, or a token from <code>POST /auth/login</code> in <code>Authorization: Bearer …</code>. With both, only the token counts.
A key entered above stays in the memory of this page and is sent only to this service.</p>
<div class="code"><div class="caption">For the examples<button class="plain copy" type="button" hidden>Copy</button></div><pre tabindex="0"><code>export DENDRO_API_KEY='dk_…'</code></pre></div>
<h2>Errors</h2>
<p>All errors have the same body. Search the service's log for its <code>correlation_id</code>, which the header <code>X-Correlation-Id</code> repeats.</p>
${failureFields}
<h2>Rate limits</h2>
<p>Every authenticated response has the headers <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> (seconds). Beyond the limit the response is 429 with
<code>Retry-After</code>. 503 with <code>Retry-After</code> means that the service is starting or a store is temporarily unavailable.</p>
<h2>Conventions</h2>
<ul>
<li>Bodies are JSON in UTF-8. Times are whole milliseconds since 1970 UTC, unless a field says seconds.</li>
<li>Integers beyond 2<sup>53</sup> are exact in requests and responses.</li>
<li>Unknown fields and unknown query parameters are ignored, except in objects marked closed.</li>
<li>A list in a query repeats its name or separates items by commas; empty items are dropped.</li>
<li>A slash at the end of a path is ignored. Records of other organizations are 404.</li>
</ul>
</section>`
