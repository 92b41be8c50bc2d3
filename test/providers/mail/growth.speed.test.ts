import * as Lab from '@hapi/lab';
import { parseMailHeader, referencesIn } from '../../../src/email/messages/record.js';
import {
  authenticationIn,
  parseAuthservId,
  parseHeaderFields,
} from '../../../src/providers/mail/authentication.js';
import { toMailFault } from '../../../src/providers/mail/fault.js';
import { parseFailureReport } from '../../../src/providers/mail/report.js';
import { safeMailHtml, textOfHtml } from '../../../src/providers/mail/safehtml.js';
import { decodedPart } from '../../../src/providers/mail/structure.js';
import { expectLinear } from '../../harness/mail/growth.js';

export const lab = Lab.script();
const { describe, it } = lab;

const KIB = 1024;

/** Pieces of HTML, each repeated, that have made a parser slow somewhere. */
const HTML = [
  ...[
    ' <b>',
    '<b>',
    '<b></b>',
    '<b></i>',
    '</b>',
    '</p>',
    '<p><p></p><b></p>',
    '<br>',
    '< b',
    '</ b',
  ],
  ...[
    '&#9;',
    ' ',
    '\n',
    ' \n',
    '\t\u00a0',
    '&',
    '&#',
    '&amp',
    '<',
    '</',
    '<!',
    '<!--',
    '<!---->',
    '<?',
  ],
  ...[
    '<svg>',
    '<svg/>',
    '<math><mi>',
    '<table><tr><td>',
    '<li>',
    '<a href=',
    '<p style="',
    "<i x='",
  ],
  ...[
    '<style>',
    '<script><b>',
    '<title><b></title>',
    '<textarea>',
    '<xmp>',
    '<template>',
    '<select>',
  ],
  ...[
    '<img>',
    '<img alt=x>',
    '<span></span>',
    '<span> ',
    '<a href="https://a.invalid">',
    '<a x=1 ',
  ],
  ...[
    '<p style="display:none">',
    '<div style="display   ">',
    '<x ',
    'x="1" ',
    '<option>',
    '<![CDATA[',
  ],
];

const LOGIN = { authservId: 'mx', from: 'a@b.example' };
const authenticated = (text: string) => authenticationIn(parseHeaderFields(text), LOGIN);
const referring = (text: string) => referencesIn(parseHeaderFields(text));

/** Ways in which a header, a report and the words of a server are read. */
const WORKS = [
  referring,
  (text: string) => referring(`references: ${text}`),
  (text: string) => authenticated(`authentication-results: mx; ${text}`),
  (text: string) => authenticated(`authentication-results: mx; dkim=pass ${text}`),
  (text: string) => parseAuthservId(`authentication-results: ${text}`),
  (text: string) => parseAuthservId(`authentication-results: (${text}`),
  (text: string) => authenticated(`received: ${text}`),
  (text: string) => authenticated(`received: from ${text}`),
  (text: string) => parseFailureReport(text, text),
  (text: string) => parseFailureReport('', `message-id: ${text}`),
  (text: string) => parseFailureReport(`action: failed\r\nfinal-recipient: rfc822; ${text}`, ''),
  (text: string) => toMailFault({ responseText: text }, 'mail.example.org'),
  (text: string) => toMailFault(new Error(text), 'mail.example.org'),
  (text: string) => parseMailHeader({ headers: Buffer.from(text), uid: 1, seq: 1 }),
];
const BLANKS = [' ', '\t', '\r', '\n', '\r\n', '\r\n ', ' \r\n', '\n\t', 'a ', 'date:a\r\n'];
const SIGNS = [
  'a:b\r\n',
  ':',
  ';',
  '<',
  '<a',
  '<a> ',
  '(',
  ')',
  '()',
  '"',
  '\\',
  '""',
  '[',
  '[1',
  ' =',
];
const WORDS = [
  'a',
  'dkim=',
  ' dkim=(',
  ';dkim=pass',
  'from ',
  'does not ',
  'STARTTLS',
  ' STARTTLS not',
];

describe('what mail servers and senders write', () => {
  it('is made safe as HTML in time that grows with its length', async () => {
    for (const piece of HTML) await expectLinear(safeMailHtml, piece, 128 * KIB);
    const link = (text: string) => safeMailHtml(`<a href="https://a.invalid/${text}">x</a>`);
    for (const piece of ['<!---->', ' ', '&#9;', '&amp;', '"'])
      await expectLinear(link, piece, 128 * KIB);
    const images = (text: string) => safeMailHtml('x'.repeat(text.length) + text);
    await expectLinear(images, '<img>', 128 * KIB);
  });

  it('is read as text of HTML in time that grows with its length', async () => {
    for (const piece of HTML) await expectLinear(textOfHtml, piece, 128 * KIB);
  });

  it('is decoded in time that grows with its length', async () => {
    for (const encoding of ['quoted-printable', 'base64', '8bit']) {
      const part = { part: '1', encoding, charset: 'utf-8', bytes: 1 };
      const decode = (text: string) => decodedPart(Buffer.from(text), part);
      for (const piece of [' ', '\t ', '=', '= ', '=4', '=\r', ' \r', ' \r\n', '\r', '=41', 'x ']) {
        await expectLinear(decode, piece, 128 * KIB);
      }
    }
  });

  it('is read as a header in time that grows with its length', async () => {
    for (const work of WORKS) {
      for (const piece of [...BLANKS, ...SIGNS, ...WORDS])
        await expectLinear(work, piece, 128 * KIB);
    }
  });
});
