const crlf = (text: string): string => text.replace(/\r?\n/g, '\r\n');
const HEAD = 'From: A <a@example.org>\nSubject: Offer\nMIME-Version: 1.0\n';

/** A part of a message with a file (RFC 2183). */
export const attached = (
  name: string,
  type: string,
  content: Buffer,
  disposition: 'inline' | 'attachment',
  contentId?: string,
): string =>
  [
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: ${disposition}; filename="${name}"`,
    ...(contentId === undefined ? [] : [`Content-ID: <${contentId}>`]),
    'Content-Transfer-Encoding: base64',
    '',
    content.toString('base64').replace(/.{76}/g, '$&\n'),
  ].join('\n');

/** A message with a text and further parts (RFC 2046). */
export const messageOf = (text: string, parts: string[], type = 'text/plain'): Buffer =>
  multipart('mixed', [`Content-Type: ${type}; charset=utf-8\n\n${text}`, ...parts]);

/** A message of two forms. */
export const alternative = (plain: string, html: string): Buffer =>
  multipart('alternative', [
    `Content-Type: text/plain; charset=utf-8\n\n${plain}`,
    `Content-Type: text/html; charset=utf-8\n\n${html}`,
  ]);

const multipart = (kind: string, parts: string[]): Buffer => {
  const all = parts.map((part) => `--x\n${part}\n`).join('');
  return Buffer.from(crlf(`${HEAD}Content-Type: multipart/${kind}; boundary=x\n\n${all}--x--\n`));
};
