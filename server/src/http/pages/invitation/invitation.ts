import { icon, invitationScript, style } from '../reference/assets.ts'
import { html } from '../reference/html.ts'

/** invitationPage is the target of an invitation link: the user sets a password. */
export function invitationPage(): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Set your password · Dendro</title>
<link rel="icon" href="${icon.address}" type="image/svg+xml">
<link rel="stylesheet" href="${style.address}">
<script src="${invitationScript.address}" defer></script>
</head>
<body class="home">
<main>
<img src="${icon.address}" alt="" width="56" height="56">
<h1>Welcome</h1>
<form id="invitation">
<p class="lead">Choose a password to accept your invitation.</p>
<label>Password <input id="password" type="password" autocomplete="new-password" minlength="12" maxlength="128" required></label>
<label>Repeat password <input id="again" type="password" autocomplete="new-password" required></label>
<p class="note">12 to 128 characters, for example a sentence.</p>
<p class="state ill" id="problem" role="alert" hidden></p>
<p class="links"><button class="button" type="submit">Set password</button></p>
</form>
<div id="done" role="status" hidden>
<p class="state well">Your password is set.</p>
<p>Sign in as <b id="email"></b>.</p>
<p class="links"><a class="button" href="/app/sign-in?way=password">Sign in</a></p>
</div>
<noscript><p>This page needs JavaScript to set your password. Turn it on and reload.</p></noscript>
</main>
</body>
</html>
`.markup
}
