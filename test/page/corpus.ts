/** Scripts hidden in strings. Each sets a mark on the window if it runs. */
const SCRIPTS = [
  'window.hostile=1',
  "top['hos'+'tile']=1",
  'self.hostile=1//',
  'eval(atob("d2luZG93Lmhvc3RpbGU9MQ=="))',
  '\\u0077indow.hostile=1',
];

/** Markup around a script, in the ways in which other programs were attacked. */
const MARKUP: ((script: string, host: string) => string)[] = [
  (js) => `<script>${js}</script>`,
  (js) => `<ScRiPt >${js}</sCrIpT >`,
  (js) => `<script\u0000>${js}</script>`,
  (js) => `"><script>${js}</script>`,
  (js) => `'><img src=x onerror=${js}>`,
  (js) => `<img src=x onerror="${js}">`,
  (js) => `<img/src=x/onerror=${js}>`,
  (js, host) => `<img src="${host}/image" onload="${js}">`,
  (_js, host) => `<img srcset="${host}/srcset 1x">`,
  (_js, host) => `![picture](${host}/markdown)`,
  (js) => `[link](javascript:${js})`,
  (js) => `<a href="javascript:${js}">here</a>`,
  (js) => `<a href="JaVa\tScRiPt:${js}" autofocus onfocus=${js}>here</a>`,
  (js) => `<svg onload=${js}>`,
  (js) => `<svg><script>${js}</script></svg>`,
  (js) => `<svg><animate onbegin=${js} attributeName=x dur=1s>`,
  (js) => `<svg><a xlink:href="javascript:${js}"><text y=20>here</text></a></svg>`,
  (_js, host) => `<svg><image href="${host}/svgimage"/></svg>`,
  (_js, host) => `<svg><use href="${host}/use#x"/></svg>`,
  (js) => `<math><mtext></mtext><mglyph><style><img src=x onerror=${js}>`,
  (js) => `<details open ontoggle=${js}>more</details>`,
  (js) => `<body onload=${js}>`,
  (js) => `<input autofocus onfocus=${js}>`,
  (js) => `<select autofocus onfocus=${js}></select>`,
  (js) => `<textarea autofocus onfocus=${js}></textarea>`,
  (js) => `<marquee onstart=${js}>text</marquee>`,
  (js) => `<video><source onerror=${js}></video>`,
  (_js, host) => `<video poster="${host}/poster" src="${host}/video"></video>`,
  (_js, host) => `<audio src="${host}/audio" autoplay></audio>`,
  (_js, host) => `<iframe src="${host}/frame"></iframe>`,
  (js) => `<iframe srcdoc="<script>parent.${js.replace('window.', '')}</script>"></iframe>`,
  (js) => `<object data="javascript:${js}"></object>`,
  (_js, host) => `<embed src="${host}/embed">`,
  (_js, host) => `<link rel=stylesheet href="${host}/style">`,
  (_js, host) => `<link rel=prefetch href="${host}/prefetch">`,
  (_js, host) => `<style>@import url("${host}/import");</style>`,
  (_js, host) => `<div style="background:url(${host}/background)">text</div>`,
  (_js, host) => `<base href="${host}/">`,
  (_js, host) => `<meta http-equiv=refresh content="0;url=${host}/refresh">`,
  (_js, host) => `<form action="${host}/form"><button autofocus>send</button></form>`,
  (js) => `<!--><img src=x onerror=${js}>-->`,
  (js) => `<noscript><p title="</noscript><img src=x onerror=${js}>">`,
  (js) => `<template><script>${js}</script></template>`,
  (js) => `&lt;img src=x onerror=${js}&gt;`,
  (js) => `&#60;script&#62;${js}&#60;/script&#62;`,
  (js) => `\\x3cscript\\x3e${js}\\x3c/script\\x3e`,
  (js) => `{{constructor.constructor('${js}')()}}`,
  (js) => `\${${js}}`,
  (js) => `javascript:/*--></title></style></textarea></script><svg onload=${js}>`,
  (js) => `<x onclick=${js} style=position:fixed;inset:0>anywhere</x>`,
];

/** Texts around a string that could break out of its context. */
const AROUND: ((text: string) => string)[] = [
  (text) => text,
  (text) => `\u202e\u2066${text}</title></textarea>\u0000\ud800`,
];

/**
 * 500 strings that would run a script, fetch from `host` or change the page if they were read as
 * markup.
 */
export const hostileStrings = (host: string): string[] =>
  SCRIPTS.flatMap((script, number) =>
    MARKUP.flatMap((markup) => AROUND.map((around) => around(markup(script, `${host}/${number}`)))),
  );
