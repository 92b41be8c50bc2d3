import { expect } from '@hapi/code';
import * as Lab from '@hapi/lab';
import { detectMediaType } from '../../src/documents/extract/kinds.js';
import { pagesOf } from '../documents/pages.js';
import { pdfOf } from '../harness/pdf.js';
import { ocf, opf } from './books.js';
import { alternative, attached, messageOf } from './mail.js';
import { flatOdf, letter, odf, paragraph, run } from './office.js';
import { lines, onePage } from './pdf.js';

export const lab = Lab.script();
const { describe, it } = lab;

const MAIL = 'message/rfc822';
const BOOK = 'application/epub+zip';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const ODT = 'application/vnd.oasis.opendocument.text';

describe('a text that begins with the mark of another format', () => {
  it('is text by its name and its bytes', async () => {
    const beginnings = [
      'BM',
      'GIF',
      'ID3',
      'MZ',
      'CWS',
      'fLaC',
      'BZh',
      '8BPS',
      '%PDF',
      'II*',
      'Rar!',
    ];
    const endings = {
      txt: 'text/plain',
      md: 'text/markdown',
      csv: 'text/csv',
      json: 'application/json',
    };
    for (const beginning of beginnings) {
      for (const [ending, type] of Object.entries(endings)) {
        const line = `${beginning} and I went home\nthen came a second line\n`;
        expect(await detectMediaType(Buffer.from(line), `a.${ending}`), line).to.equal(type);
      }
    }
  });

  it('is so in an encoding of its own too, and with the colours of a log', async () => {
    const latin = Buffer.from('BM und Müßiggang\n', 'latin1');
    expect(await detectMediaType(latin, 'a.txt')).to.equal('text/plain');
    expect(await detectMediaType(Buffer.from('BM \x1b[31mred\x1b[0m\n'), 'a.log')).to.equal(
      'text/plain',
    );
    expect(await detectMediaType(Buffer.from('MZ: 1\r\n\r\nold'), 'a.eml')).to.equal(MAIL);
    expect(await detectMediaType(Buffer.from('GIF89a <p>page'), 'a.html')).to.equal('text/html');
  });

  it('is that format where its bytes are no text', async () => {
    const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
    expect(await detectMediaType(gif, 'a.txt')).to.equal('image/gif');
    expect(await detectMediaType(pdfOf('a line'), 'without ending')).to.equal('application/pdf');
    expect(await detectMediaType(Buffer.from('MZ\0\0'), 'a.txt')).to.be.null();
  });
});

/** A text in an encoding whose characters have one byte. */
const encoded = (text: string, encoding: string): Buffer => {
  const all = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, at) => at));
  return Buffer.from(Array.from(text, (sign) => all.indexOf(sign)));
};

describe('a short text without a stated encoding', () => {
  const read = (bytes: Buffer, type = 'text/plain') => pagesOf(type, bytes);

  it('has the letters of a language that has them all', async () => {
    const texts: [encoding: string, text: string][] = [
      ['windows-1250', 'Příliš žluťoučký kůň'],
      ['windows-1250', 'Zażółć gęślą jaźń'],
      ['windows-1250', 'Árvíztűrő tükörfúrógép'],
      ['windows-1250', 'Košice, Čadca'],
      ['iso-8859-2', 'Zażółć gęślą jaźń'],
      ['macintosh', 'Größe: 5 m'],
      ['macintosh', 'Le café est fermé à Noël.'],
      ['macintosh', '“Hello” – it’s'],
      ['windows-1252', 'Größe: 5 m'],
      ['windows-1252', 'Le café est fermé à Noël.'],
      ['windows-1252', 'café'],
      ['windows-1252', '“café” – it’s €5, 1½ cups'],
      ['windows-1251', 'Привет, мир'],
      ['koi8-r', 'Привет, мир'],
    ];
    for (const [encoding, text] of texts) {
      expect(await read(encoded(text, encoding)), text).to.equal({ texts: [text], notes: [] });
    }
    const page = `<p>${texts[0]?.[1]}</p>`;
    expect((await read(encoded(page, 'windows-1250'), 'text/html')).texts).to.equal([
      texts[0]?.[1],
    ]);
  });

  it('may be one of DOS', async () => {
    const dos = Buffer.from('Der M\x81\xe1igg\x84nger, Gr\x94\xe1e: 5 m', 'latin1');
    expect(await read(dos)).to.equal({ texts: ['Der Müßiggänger, Größe: 5 m'], notes: [] });
    const french = Buffer.from('Le caf\x82 est ferm\x82 \x85 No\x89l.', 'latin1');
    expect(await read(french)).to.equal({ texts: ['Le café est fermé à Noël.'], notes: [] });
  });

  it('says so if it may as well be in another one', async () => {
    for (const [encoding, text] of [
      ['windows-1251', 'Пакт'],
      ['windows-1252', 'año'],
    ] as const) {
      const note = `The encoding of the text is uncertain. It was read as ${encoding}. If characters are wrong, save the file as UTF-8.`;
      expect(await read(encoded(text, encoding))).to.equal({ texts: [text], notes: [note] });
    }
  });
});

describe('a log with NUL bytes', () => {
  it('is read without them if it has few of them, and nothing else that is binary', async () => {
    const line = 'The pump started at nine.\n';
    for (const text of [`${line}\0${line}`, `${line}${'\0'.repeat(4096)}${line.repeat(2)}`]) {
      expect(await detectMediaType(Buffer.from(text), 'pump.log')).to.equal('text/plain');
      const { texts, notes } = await pagesOf('text/plain', Buffer.from(text));
      expect(texts[0]?.split(/\n\s?/).filter(Boolean).length).to.equal(text.split('\n').length - 1);
      expect(notes).to.equal(['The file contains NUL bytes, which are left out.']);
    }
    for (const text of [`${line}\0\x01${line}`, Array.from(line).join('\0\0\0'), 'abc\0de']) {
      expect(await detectMediaType(Buffer.from(text), 'pump.log'), text).to.be.null();
    }
  });
});

describe('the title of a file', () => {
  const TITLE = 'The bittern';
  const read = async (type: string, bytes: Buffer | string) =>
    (await pagesOf(type, Buffer.from(bytes))).texts;

  it('precedes its text, whatever the format', async () => {
    const files: [type: string, bytes: Buffer | string][] = [
      ['text/html', `<title>\n${TITLE} </title><p>It hides.</p>`],
      [BOOK, opf(['a.xhtml'], {}, ['a.xhtml'], 'It hides.', `<dc:title>${TITLE}</dc:title>`)],
      [
        'application/rtf',
        `{\\rtf1\\ansi{\\info{\\author A}{\\title ${TITLE}}}\\pard It hides.\\par}`,
      ],
      [DOCX, letter(paragraph(run('It hides.')), { title: TITLE })],
      [ODT, odf('text', '<text:p>It hides.</text:p>', '', '', TITLE)],
      [
        `${ODT}-flat-xml`,
        flatOdf('text', '<text:p>It hides.</text:p>').replace(
          '<office:master-styles>',
          `<office:meta><dc:title>${TITLE}</dc:title></office:meta>$&`,
        ),
      ],
      ['application/pdf', onePage({ content: lines('It hides in the reeds.'), title: TITLE })],
    ];
    for (const [type, bytes] of files) {
      const [text = ''] = await read(type, bytes);
      expect(text.replace(' in the reeds', ''), type).to.equal(`# ${TITLE}\n\nIt hides.`);
    }
  });

  it('is in its own encoding in RTF', async () => {
    const text =
      "{\\rtf1\\ansi\\ansicpg1250{\\info{\\title P\\'f8\\'edli\\'9a}}\\pard It hides.\\par}";
    expect(await read('application/rtf', text)).to.equal(['# Příliš\n\nIt hides.']);
  });

  it('is not repeated, and precedes only the first page', async () => {
    expect(
      await read('text/html', `<title>${TITLE}</title><h1>The  Bittern</h1><p>It hides.`),
    ).to.equal(['# The Bittern\n\nIt hides.']);
    const chapters = opf(
      ['a.xhtml', 'b.xhtml'],
      {},
      undefined,
      'It hides.',
      `<dc:title>${TITLE}</dc:title>`,
    );
    expect(await read(BOOK, chapters)).to.equal([`# ${TITLE}\n\nIt hides.`, 'It hides.']);
    const untitled = '<title> </title><p>It hides.';
    expect(await read('text/html', untitled)).to.equal(['It hides.']);
  });
});

describe('a file within a message', () => {
  it('is read though it is marked inline', async () => {
    const offer = pdfOf('The roof costs nine thousand.');
    const { texts, notes } = await pagesOf(
      MAIL,
      messageOf('As promised.', [
        attached('offer.pdf', 'application/pdf', offer, 'inline'),
        attached('list.csv', 'text/csv', Buffer.from('roof,9000'), 'inline'),
      ]),
    );
    expect(texts).to.equal([
      '# Offer\nFrom: A <a@example.org>\nFiles: offer.pdf, list.csv\n\nAs promised.',
      'The roof costs nine thousand.',
      'roof,9000',
    ]);
    expect(notes).to.equal([]);
  });

  it('is named where it cannot be read', async () => {
    const { texts, notes } = await pagesOf(
      MAIL,
      messageOf('See below.', [
        attached('winmail.dat', 'application/ms-tnef', Buffer.from('78 9f 3e 22'), 'inline'),
      ]),
    );
    expect(texts.length).to.equal(1);
    expect(notes).to.equal(['The attachment winmail.dat has an unsupported file type.']);
  });

  it('is named where it is encoded with uuencode, in the text too', async () => {
    const encoded = "begin 644 roof.csv\n#=6QA\n'4F]O9BPY,#`P\n`\nend";
    const part = `Content-Type: text/csv; name="roof.csv"\nContent-Transfer-Encoding: x-uuencode\nContent-Disposition: attachment; filename="roof.csv"\n\n${encoded}`;
    const note =
      'The file roof.csv was not read, because it is encoded with uuencode. Attach it in MIME format.';
    const attachment = await pagesOf(MAIL, messageOf('See below.', [part]));
    expect([attachment.texts.length, attachment.notes]).to.equal([1, [note]]);
    const inText = await pagesOf(MAIL, messageOf(`See below.\n${encoded}\nRegards`, []));
    expect(inText.texts[0]).to.contain('See below.\n[roof.csv]\nRegards');
    expect(inText.notes).to.equal([note]);
  });

  it('is left out if it is a picture that the HTML shows', async () => {
    const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
    const logo = attached('logo.gif', 'image/gif', gif, 'inline', 'logo@example.org');
    const html = '<p>Regards</p><img src="cid:logo@example.org">';
    const { texts, notes } = await pagesOf(MAIL, messageOf(html, [logo], 'text/html'));
    expect(texts).to.equal(['# Offer\nFrom: A <a@example.org>\nFiles: logo.gif\n\nRegards']);
    expect(notes).to.equal([]);
  });
});

describe('the text of a message of two forms', () => {
  const bodyOf = async (plain: string, html: string): Promise<string> => {
    const { texts } = await pagesOf(MAIL, alternative(plain, html));
    return texts[0]?.split('\n\n').slice(1).join('\n\n') ?? '';
  };
  const HTML = '<p>The water is off on Tuesday.</p>';

  it('is that of the HTML where the plain form is blank or a hint', async () => {
    for (const plain of [
      ...['', ' \n ', 'Please view this message in HTML.', 'Your client cannot show HTML'],
      'Open this mail in your browser: https://example.org/m/1',
    ]) {
      expect(await bodyOf(plain, HTML), plain).to.equal('The water is off on Tuesday.');
    }
  });

  it('is the plain one where both say the same, and both where they do not', async () => {
    const plain = 'The water is off on Tuesday. Yours, A';
    expect(await bodyOf(plain, HTML)).to.equal(plain);
    expect(await bodyOf('Grüße, A', HTML)).to.equal('Grüße, A\n\nThe water is off on Tuesday.');
    expect(await bodyOf('Only this.', '<img src="https://example.org/x.png">')).to.equal(
      'Only this.',
    );
  });
});

describe('the text of a message as it is sent', () => {
  const text = async (header: string, body: Buffer): Promise<string | undefined> => {
    const head = `Subject: Offer\r\nMIME-Version: 1.0\r\n${header}\r\n\r\n`;
    const { texts } = await pagesOf(MAIL, Buffer.concat([Buffer.from(head), body]));
    return texts[0]?.replace('# Offer\n\n', '').trim();
  };

  it('is that which was meant, whatever the label of its charset', async () => {
    const windows = Buffer.from([0x93, 0x63, 0x61, 0x66, 0xe9, 0x94, 0x20, 0x80, 0x35]);
    const of = (charset: string): string => `Content-Type: text/plain; charset="${charset}"`;
    for (const charset of ['us-ascii', 'utf-8', 'cp-1252', 'x-unknown', 'iso-8859-1']) {
      expect(await text(of(charset), windows), charset).to.equal('“café” €5');
    }
    expect(await text('X-Other: a', windows)).to.equal('“café” €5');
    expect(await text(of('us-ascii'), Buffer.from('“café” €5'))).to.equal('“café” €5');
    const quoted = `${of('utf-8')}\r\nContent-Transfer-Encoding: quoted-printable`;
    expect(await text(quoted, Buffer.from('=93caf=E9=94 =805'))).to.equal('“café” €5');
    const utf7 = Buffer.from('caf+AOk- +IKw-5 1+-1, +AMQA1g');
    expect(await text(of('utf-7'), utf7)).to.equal('café €5 1+1, ÄÖ');
    const nested = 'Content-Type: message/rfc822\r\n\r\nSubject: Inner';
    expect(await text(nested, Buffer.concat([Buffer.from('\r\n'), windows]))).to.contain(
      '“café” €5',
    );
  });

  it('has whole paragraphs, also quoted ones', async () => {
    const type = 'Content-Type: text/plain; charset=utf-8; format=flowed';
    const lines = Buffer.from('> The roof \r\n> costs nine.\r\nThanks, \r\nAda');
    expect(await text(type, lines)).to.equal('> The roof costs nine.\nThanks, Ada');
    expect(await text(`${type}; delsp=yes`, Buffer.from('> 日 \r\n> 本'))).to.equal('> 日本');
  });

  it('is that of its HTML, with the charset that the HTML names', async () => {
    const html = Buffer.from('<meta charset="windows-1251"><p>\xcf\xe0\xea\xf2', 'latin1');
    expect(await text('Content-Type: text/html', html)).to.equal('Пакт');
  });

  it('keeps its letters if a list has appended a line to its encoded form', async () => {
    const type = 'Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64';
    const body = `${Buffer.from('Grüße aus Wien, über alles').toString('base64')}\r\n____\r\nList\r\n`;
    expect(await text(type, Buffer.from(body))).to.match(/^Grüße aus Wien, über alle/);
  });

  it('follows a header that is readable, however it is encoded', async () => {
    const subjects: [written: Buffer | string, read: string][] = [
      [Buffer.from('Größe', 'latin1'), 'Größe'],
      ['Größe', 'Größe'],
      ['=?utf-8?B?R3LDtsM=?= =?utf-8?B?n2U=?=\r\n =?UTF-8?Q?_und_mehr?=', 'Größe und mehr'],
      ['=?cp-1252?Q?=93a=94?= =?us-ascii?Q?=C3=BC?=', '“a”ü'],
      ['=?utf-8?Q?caf=E9?= b =?unknown-8bit?q?=fc b?=', 'café b ü b'],
      ['=?iso-8859-1*de?Q?=FC?= 1 =?x', 'ü 1 =?x'],
    ];
    for (const [written, read] of subjects) {
      const bytes = [Buffer.from('Subject: '), Buffer.from(written), Buffer.from('\r\n\r\nHi')];
      expect((await pagesOf(MAIL, Buffer.concat(bytes))).texts).to.equal([`# ${read}\n\nHi`]);
    }
    const from = '=?utf-8?Q?Doe=2C_J=C3=BCrgen?= <j@example.org>';
    const { texts } = await pagesOf(MAIL, Buffer.from(`From: ${from}\r\n\r\nHi`));
    expect(texts).to.equal(['From: Doe, Jürgen <j@example.org>\n\nHi']);
  });

  it('is followed by its other texts, such as an invitation', async () => {
    const event = 'BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Roof\r\nEND:VEVENT\r\nEND:VCALENDAR';
    const { texts, notes } = await pagesOf(
      MAIL,
      messageOf('Please come.', [`Content-Type: text/calendar; method=REQUEST\n\n${event}`]),
    );
    expect([texts[1]?.trim(), notes]).to.equal([event.replaceAll('\r', ''), []]);
  });

  it('may have been saved as UTF-16', async () => {
    const message = Buffer.from('\ufeffSubject: Größe\r\n\r\n“café”', 'utf16le');
    for (const bytes of [message, Buffer.from(message).swap16()]) {
      expect(await detectMediaType(bytes, 'a.eml')).to.equal(MAIL);
      expect((await pagesOf(MAIL, bytes)).texts).to.equal(['# Größe\n\n“café”']);
    }
  });
});

describe('neighbouring words of a page', () => {
  const read = async (html: string) => {
    const { texts } = await pagesOf('text/html', Buffer.from(html));
    return texts[0]?.split(/\s+/).join(' ');
  };

  it('are apart where the page shows them apart', async () => {
    for (const html of [
      '<nav><a href="a">one</a><a href="b">two</a></nav>',
      '<style>.b { display: block }</style><p><span class="b">one</span><span class="b">two</span>',
      '<p><span style="display:flex">one</span><b>two</b>',
      '<p>one<span style="display:table-cell">two</span>',
      '<button>one</button><button>two</button>',
      '<label>one</label><input><label>two</label>',
      '<details><summary>one</summary>two</details>',
      '<table><tr><td>one</td><td>two</td></tr></table>',
      '<p>one<br>two',
    ]) {
      expect(await read(html), html).to.equal('one two');
    }
  });

  it('are one word where they only differ in style', async () => {
    for (const html of [
      '<p>on<b>e</b>',
      '<p><a href="a">on</a><a href="a">e</a>',
      '<p><i style="display:inline-block">on</i><i style="display:inline-block">e</i>',
      '<p>on<wbr>e',
      '<p><ruby>on<rp>(</rp><rt>ruby</rt><rp>)</rp></ruby>e',
    ]) {
      expect(await read(html), html).to.equal('one');
    }
  });
});

describe('a contact of an old telephone', () => {
  it('has readable letters, whatever their charset', async () => {
    const card = [
      'BEGIN:VCARD',
      'VERSION:2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:L=C3=B6we;J=C3=BCr=',
      'gen',
      'ORG;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:B=E4cker',
      'NOTE;QUOTED-PRINTABLE:one=0D=0Atwo',
      'FN:A=B',
      'END:VCARD',
    ];
    const { texts } = await pagesOf('text/vcard', Buffer.from(card.join('\r\n')));
    expect(texts[0]?.split('\n')).to.equal([
      ...['BEGIN:VCARD', 'VERSION:2.1', 'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Löwe;Jürgen'],
      ...['ORG;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Bäcker'],
      ...['NOTE;QUOTED-PRINTABLE:one', 'two', 'FN:A=B', 'END:VCARD'],
    ]);
  });
});

describe('a book', () => {
  const chapters = async (...given: Parameters<typeof opf>) =>
    (await pagesOf(BOOK, opf(...given))).texts;
  const TIDE = 'Chapter 1 of the tide.';

  it('has its chapters whatever the prefixes of its elements', async () => {
    expect(await chapters(['a.xhtml'])).to.equal([TIDE]);
    expect(await chapters(['a.xhtml'], { opf: 'p' })).to.equal([TIDE]);
    expect(await chapters(['a.xhtml'], { ocf: 'ns0' })).to.equal([TIDE]);
  });

  it('has them whatever the spelling of their addresses', async () => {
    expect(await chapters(['a.xhtml', '5%.xhtml'])).to.equal([TIDE, 'Chapter 2 of the tide.']);
    for (const [href, name] of [
      ['a.xhtml#top', 'a.xhtml'],
      ['a%2Cb.xhtml', 'a,b.xhtml'],
      ['c%23.xhtml', 'c#.xhtml'],
      ['c#.xhtml', 'c#.xhtml'],
      ['Text/a.xhtml', 'text/A.xhtml'],
      ['%C3%BCber.xhtml', 'über.xhtml'.normalize('NFD')],
      ['./x/../a.xhtml', 'a.xhtml'],
      ['a', 'a'],
    ] as const) {
      expect(await chapters([href], {}, [name]), href).to.equal([TIDE]);
    }
  });

  it('has a chapter once, however often and in whatever spelling it is listed', async () => {
    const hrefs = [...Array(5000).fill('a.xhtml'), 'A.xhtml', './a.xhtml', '%61.xhtml#top'];
    expect(await chapters(hrefs, {}, ['a.xhtml'])).to.equal([TIDE]);
  });

  it('has no text that it hides, also by its style sheets', async () => {
    const order =
      '<package><manifest><item id="a" href="t/a.xhtml"/></manifest><spine><itemref idref="a"/></spine></package>';
    const book = ocf('<container><rootfile full-path="b.opf"/></container>', [
      { name: 'b.opf', content: order },
      {
        name: 't/a.xhtml',
        content:
          '<html><head><link href="../s.css" rel="stylesheet"/></head><body><p>Seen.</p><p class="key">KEY</p><p hidden="">GONE</p><p style="display:none">NOT</p></body></html>',
      },
      { name: 's.css', content: '@media screen { .key { display: none } }' },
    ]);
    expect((await pagesOf(BOOK, book)).texts).to.equal(['Seen.']);
  });

  it('names a chapter that is missing, and is damaged without any', async () => {
    const { texts, notes } = await pagesOf(BOOK, opf(['a.xhtml', 'b.xhtml'], {}, ['a.xhtml']));
    expect(texts).to.equal([TIDE, '']);
    expect(notes).to.equal(['b.xhtml is missing from the book.']);
    await expect(pagesOf(BOOK, opf([]))).to.reject('The EPUB file lists no chapters');
    await expect(pagesOf(BOOK, ocf('<container></container>', []))).to.reject(
      'The EPUB file is damaged: its package document (OPF) is missing',
    );
  });
});
