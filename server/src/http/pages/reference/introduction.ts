import { type Html, html } from './html.ts'

/** introduction describes what holds for every endpoint. */
export const introduction = (
  facts: { baseUrl: string; version: string },
  errorFields: Html,
): Html => html`<section id="introduction" class="group">
<h1>API reference</h1>
<p class="lead">The web app and the CLI use this API too. This page and the validation of each request come from one contract, so it describes exactly what the service at
<code>${facts.baseUrl}</code> (version ${facts.version}) accepts. The same is available as an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p>
<h2>Credentials</h2>
<p>Send an API key in <code>X-SERVICE-API-KEY</code>, or a token from <code>POST /auth/login</code> in <code>Authorization: Bearer …</code>. When a request has both, only the token counts.
“Try it” sends the credential entered above, or your session if you are signed in to the web app in this tab. The entered credential is not stored, and is sent only to this service.</p>
<div class="code"><div class="caption">Key for the examples<button class="plain copy" type="button" hidden>Copy</button></div><pre tabindex="0"><code>export DENDRO_API_KEY='dk_…'</code></pre></div>
<h2>Errors</h2>
<p>Every error has the same body. Its <code>correlation_id</code>, also in the header <code>X-Correlation-Id</code>, finds the request in the log of the service.</p>
${errorFields}
<h2>Rate limits</h2>
<p>Every authenticated response has the headers <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> (seconds). Requests above the limit get 429 with
<code>Retry-After</code>; 503 with <code>Retry-After</code> means that the service is starting or a store is temporarily unavailable.</p>
<h2>Conventions</h2>
<ul>
<li>Bodies are JSON in UTF-8. Times are integer milliseconds since 1970 UTC, unless a field says seconds.</li>
<li>Integers above 2<sup>53</sup> are exact in requests and responses.</li>
<li>Unknown fields and unknown query parameters are ignored, except in objects marked closed.</li>
<li>A list in a query repeats its name or is separated by commas; empty items are dropped.</li>
<li>A slash at the end of a path is ignored. A record of another organization answers 404.</li>
</ul>
</section>`
