import { type Html, html } from './html.ts'

/** The facts that hold for every endpoint. */
export const introduction = (
  facts: { baseUrl: string; version: string },
  failureFields: Html,
): Html => html`<section id="introduction" class="group">
<h1>API reference</h1>
<p class="lead">Everything Dendro does, it does through this API. The page is made from the same contract that checks each request, so it says what the service on
<code>${facts.baseUrl}</code> (version ${facts.version}) really takes and answers. For tools there is an <a href="/openapi.json">OpenAPI 3.1 document</a>.</p>
<h2>Credentials</h2>
<p>Send an API key in <code>X-SERVICE-API-KEY</code>, or a token from <code>POST /auth/login</code> in <code>Authorization: Bearer …</code>. When both are there, the token decides alone.
A key you enter above stays in the memory of this page and goes nowhere but to this service.</p>
<div class="code"><div class="caption">For the examples<button class="plain copy" type="button" hidden>Copy</button></div><pre tabindex="0"><code>export DENDRO_API_KEY='dk_…'</code></pre></div>
<h2>Failures</h2>
<p>Every failure has the same body. <code>correlation_id</code>, which also stands in the header <code>X-Correlation-Id</code>, finds the request in the service's log.</p>
${failureFields}
<h2>Pace</h2>
<p>Every authenticated answer carries <code>RateLimit-Limit</code>, <code>RateLimit-Remaining</code> and <code>RateLimit-Reset</code> (seconds). Beyond the limit the answer is 429 with
<code>Retry-After</code>; 503 with <code>Retry-After</code> means that the service is starting or a store is away for a moment.</p>
<h2>Manners</h2>
<ul>
<li>Bodies are JSON in UTF-8. Times are whole milliseconds since 1970 UTC, unless a field says seconds.</li>
<li>Whole numbers beyond 2<sup>53</sup> are exact in both directions.</li>
<li>Unknown fields and unknown query parameters are ignored, except in objects marked closed.</li>
<li>A list in a query repeats its name, or separates by commas; empty items are dropped.</li>
<li>A slash at the end of a path does not matter. A record of another organisation does not exist for you: 404.</li>
</ul>
</section>`
