import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { Parser } from 'htmlparser2';
import {
  encodeDirections,
  safeMailHtml,
  textOfHtml,
} from '../../../src/providers/mail/safehtml.js';

export const lab = Lab.script();
const { describe, it } = lab;

const HOME = 'https://home.invalid/x';

/** Ways in which a message fetches something when it is shown. */
const CALLS = [
  `<img src="${HOME}"><img srcset="${HOME} 2x" sizes="1px"><img alt='" src="${HOME}' src=x>`,
  `<picture><source srcset="${HOME}"><img src="cid:logo" data-src="${HOME}" lowsrc="${HOME}"></picture>`,
  `<p style="background:url(${HOME})">a</p><p style="background:u\\72l('${HOME}')">b</p>`,
  `<style>@import "${HOME}"; body { background: url(${HOME}) }</style><style media=x>@import url(${HOME});`,
  `<link rel="stylesheet" href="${HOME}"><link rel="dns-prefetch" href="//home.invalid">`,
  `<meta http-equiv="refresh" content="0;url=${HOME}"><base href="${HOME}"><a href="relative">c</a>`,
  `<form action="${HOME}"><input type="image" src="${HOME}"><button formaction="${HOME}">d</button></form>`,
  `<svg><image href="${HOME}" xlink:href="${HOME}"/><use href="${HOME}#a"/><style>@import "${HOME}"</style></svg>`,
  `<math><mtext><table><mglyph><style><img src="${HOME}"></style></mglyph></table></mtext></math>`,
  `<iframe src="${HOME}" srcdoc="<img src='${HOME}'>"></iframe><object data="${HOME}"></object>`,
  `<embed src="${HOME}"><video src="${HOME}" poster="${HOME}"></video><audio src="${HOME}"></audio>`,
  `<table background="${HOME}"><tr><td background="${HOME}" onload="fetch('${HOME}')">e</td></tr></table>`,
  `<a href="https://a.invalid" ping="${HOME}" onclick="fetch('${HOME}')" style="background:url(${HOME})">f</a>`,
  `<noscript><img src="${HOME}"></noscript><template><img src="${HOME}"></template><xmp><img src="${HOME}"></xmp>`,
  `<!--[if mso]><img src="${HOME}"><![endif]--><!--><img src="${HOME}">--><![CDATA[<img src="${HOME}">]]>`,
  `<script src="${HOME}"></script><scr<script></script>ipt src="${HOME}"></script>`,
  `<a href="javascript:fetch('${HOME}')">g</a><a href="data:text/html,<img src='${HOME}'>">h</a>`,
  `<textarea><img src="${HOME}"></textarea><title><img src="${HOME}"></title><plaintext><img src="${HOME}">`,
];

/** The tags that HTML opens, each with its attributes, and what a link may have left out. */
const tagsIn = (html: string): string[] => {
  const found: string[] = [];
  const parser = new Parser({
    onopentag: (name, attributes) => {
      const isLink = name === 'a' && /^(?:https?:|mailto:)/.test(attributes.href ?? 'https:');
      for (const attribute of Object.keys(attributes)) {
        const isShown = isLink && ['href', 'title', 'rel'].includes(attribute);
        if (!isShown) found.push(`${name} ${attribute}`);
      }
      if (!HARMLESS.test(name)) found.push(name);
    },
  });
  parser.end(html);
  return found;
};
const HARMLESS = /^(?:a|p|span|table|tbody|tr|td|b|blockquote|div|br)$/;

describe('the HTML of an e-mail', () => {
  for (const [number, html] of CALLS.entries()) {
    it(`fetches nothing when it is shown (${number})`, async () => {
      const safe = (await safeMailHtml(`<p>Hello</p>${html}`)) ?? '';
      expect(safe).to.startWith('<p>Hello</p>');
      expect(tagsIn(safe), safe).to.equal([]);
    });
  }

  it('keeps its text at any depth, and its elements down to 100 levels', async () => {
    const deep = `${'<b><i>'.repeat(5000)}deep${'</i></b>'.repeat(5000)}<p>after</p>`;
    const safe = `${'<b><i>'.repeat(50)}deep${'</i></b>'.repeat(50)}<p>after</p>`;
    expect(await safeMailHtml(deep)).to.equal(safe);
    expect(textOfHtml(deep)).to.equal('deep\nafter');
    for (const raw of ['script', 'style', 'title']) {
      const html = `${'<b>'.repeat(200)}<${raw}>${'<i>'.repeat(200)}</${raw}>shown`;
      expect(await safeMailHtml(html)).to.equal(`${'<b>'.repeat(100)}shown${'</b>'.repeat(100)}`);
    }
    expect(await safeMailHtml('<p>one<p>two<ul><li>a<li><b>b</ul>c</i></b>')).to.equal(
      '<p>one</p><p>two</p><ul><li>a</li><li><b>b</b></li></ul>c',
    );
  });

  it('is shown only where it does not become too long', async () => {
    expect(
      await safeMailHtml(`<a href="https://a.invalid/${'&'.repeat(3000)}">`.repeat(80)),
    ).to.be.null();
    expect(await safeMailHtml(`<a href="https://a.invalid/${'a'.repeat(5000)}">x</a>`)).to.equal(
      '<a rel="noopener noreferrer nofollow">x</a>',
    );
  });

  it('changes no text direction, neither in texts nor in links', async () => {
    const signs = [
      ...['\u061c', '\u200e', '\u200f', '\u202a', '\u202b', '\u202c', '\u202d', '\u202e'],
      ...['\u2066', '\u2067', '\u2068', '\u2069'],
    ];
    for (const sign of signs) {
      const code = encodeURIComponent(sign);
      for (const written of [sign, `&#${sign.charCodeAt(0)};`]) {
        const html = `<p title="${written}">a${written}b<img alt="c${written}d"><a title="x" href="https://evil.example/${written}gnp.exe">e${written}f</a></p>`;
        const target = `https://evil.example/${code}gnp.exe`;
        expect(await safeMailHtml(html)).to.equal(
          `<p>ab<span>[cd]</span><a href="${target}" title="${target}" rel="noopener noreferrer nofollow">ef</a></p>`,
        );
        expect(textOfHtml(html)).to.equal(`abef <${target}>`);
      }
    }
    expect(encodeDirections('<mailto:a@b?subject=\u202ex>')).to.equal(
      '<mailto:a@b?subject=%E2%80%AEx>',
    );
  });

  it('separates the cells of a table', () => {
    const row = '<tr><td>Hat</td><td>10 EUR</td><td></td></tr>';
    expect(textOfHtml(`<table>${row}<tr><th>Sum</th> <th><b>1</b>0</th></tr></table>`)).to.equal(
      'Hat 10 EUR\n\nSum 10',
    );
  });

  it('puts behind a link where it leads, unless it says that', () => {
    const texts: [html: string, text: string][] = [
      [
        'Go to <a href="https://evil.example/login">https://www.paypal.com/login</a> now',
        'Go to https://www.paypal.com/login <https://evil.example/login> now',
      ],
      [
        '<a href="https://shop.example/a?utm=1&amp;id=2">Your order</a>.',
        'Your order <https://shop.example/a?…>.',
      ],
      ['<a href="https://Shop.example/">shop.example</a>', 'shop.example'],
      ['<a href="mailto:bob@example.org">bob@example.org</a>', 'bob@example.org'],
      ['<a href="javascript:alert(1)">Here</a> <a href="/settings">and here</a>', 'Here and here'],
      ['<a href="https://a.example/"><img src="x"></a>End', 'End'],
    ];
    expect(texts.map(([html]) => textOfHtml(html))).to.equal(texts.map(([, text]) => text));
  });
});
