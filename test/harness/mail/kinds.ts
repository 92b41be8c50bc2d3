const lines = (...all: string[]): string => all.join('\r\n');

const base64 = (bytes: Buffer | string): string =>
  Buffer.from(bytes)
    .toString('base64')
    .replace(/.{76}/g, (line) => `${line}\r\n`);

const part = (type: string, body: string, ...more: string[]): string =>
  lines(`Content-Type: ${type}`, ...more, '', body);

const multipart = (kind: string, boundary: string, ...parts: string[]): string =>
  lines(
    `Content-Type: multipart/${kind}; boundary="${boundary}"`,
    '',
    ...parts.flatMap((each) => [`--${boundary}`, each]),
    `--${boundary}--`,
    '',
  );

const BASE64 = 'Content-Transfer-Encoding: base64';
const PLAIN = part('text/plain; charset=utf-8', 'Hello.');

/** A part within that many multiparts. */
const nested = (depth: number): string =>
  depth === 0 ? PLAIN : multipart('mixed', `level-${depth}`, nested(depth - 1), PLAIN);

const attached = (type: string, name: string, bytes: Buffer): string =>
  part(type, base64(bytes), BASE64, `Content-Disposition: attachment; filename="${name}"`);

/** A TNEF stream begins with its signature and a key. */
export const TNEF = Buffer.concat([
  Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0]),
  Buffer.alloc(200, 7),
]);

/** Fields and body of each kind of message. */
const KINDS: Record<string, (n: number) => string> = {
  plain: () => lines('Date: Sat, 31 Jan 2026 09:30:00 +0000', PLAIN),
  nested: () => nested(20),
  html: () =>
    part('text/html; charset=utf-8', '<p>Hello <img src="https://tracker.invalid/x"></p>'),
  alternative: () => multipart('alternative', 'a', PLAIN, part('text/html', '<b>Hello</b>')),
  koi8: () => part('text/plain; charset=koi8-r', '\xf0\xd2\xc9\xd7\xc5\xd4', 'MIME-Version: 1.0'),
  unknownCharset: () => part('text/plain; charset=x-nobody-knows', '\xe4\xf6\xfc'),
  rawHeader: () => lines('X-Raw: \xff\xfe\xe4', 'Comments: \xc3\xa4', PLAIN),
  undated: () => lines('Date: never', PLAIN),
  folded: () =>
    lines('X-Long:', ...Array.from({ length: 100 }, (_, n) => `\tfolded ${n}`), 'Date:', PLAIN),
  broken: () => lines('this line has no colon', ': no name', 'Date: 99 Foo 99999', '', 'x'),
  longLine: () => lines(`X-Long: ${'a'.repeat(20_000)}`, '', 'b'.repeat(50_000)),
  tnef: () => multipart('mixed', 't', PLAIN, attached('application/ms-tnef', 'winmail.dat', TNEF)),
  smime: () => attached('application/pkcs7-mime; smime-type=enveloped-data', 'smime.p7m', TNEF),
  pgp: () =>
    multipart(
      'encrypted; protocol="application/pgp-encrypted"',
      'p',
      part('application/pgp-encrypted', 'Version: 1'),
      part('application/octet-stream', '-----BEGIN PGP MESSAGE-----\r\n\r\nhQEMA\r\n'),
    ),
  recipients: () =>
    lines(
      `To: ${Array.from({ length: 1000 }, (_, n) => `r${n}@example.org`).join(',\r\n ')}`,
      PLAIN,
    ),
  calendar: () => multipart('mixed', 'c', PLAIN, part('text/calendar', 'BEGIN:VCALENDAR')),
  unclosed: () => lines('Content-Type: multipart/mixed; boundary=u', '', '--u', '', 'no end'),
  bodiless: () => '',
  attachedMail: () =>
    multipart('mixed', 'm', PLAIN, part('message/rfc822', lines('Subject: Inner', '', 'x'))),
};

export const KIND_NAMES = Object.keys(KINDS);
const LARGE = 30 * 1024 * 1024;

/** A message of some kind, the same for the same number. The first one has 30 MB. */
export const mailOfKind = (n: number): Buffer => {
  const kind = KIND_NAMES[n % KIND_NAMES.length] ?? 'plain';
  const rest =
    n === 0
      ? multipart(
          'mixed',
          'l',
          PLAIN,
          part('application/zip; name=l.zip', base64(Buffer.alloc(LARGE)), BASE64),
        )
      : KINDS[kind]?.(n);
  // Every third message has no Message-ID and is identified by its header.
  const id = n % 3 === 0 ? [] : [`Message-ID: <${n}@kinds.example.org>`];
  const head = lines('From: Bob <bob@example.org>', `Subject: ${n} ${kind}`, ...id);
  return Buffer.from(`${head}\r\n${rest}\r\n`, 'latin1');
};
