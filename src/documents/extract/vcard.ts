import { decodedBytes, decodeMailText } from '../../providers/mail/structure.js';

/** A property whose value continues on the lines after a soft line break (vCard 2.1, 2.1.3). */
const QUOTED_PROPERTY =
  /^([^\n:]*;(?:ENCODING=)?QUOTED-PRINTABLE\b[^\n:]*:)((?:[^\r\n]*=\r?\n)*[^\r\n]*)/gim;
const CHARSET = /;CHARSET="?([^;:"]+)/i;

/** Decodes values in quoted-printable, which vCard 2.1 uses for letters beyond ASCII. */
export const decodeQuotedProperties = (text: string): string =>
  text.replace(QUOTED_PROPERTY, (property, head: string, value: string) => {
    if (!/^[\x00-\x7f]*$/.test(value)) return property;
    const charset = CHARSET.exec(head)?.[1] ?? 'utf-8';
    const bytes = decodedBytes(Buffer.from(value, 'latin1'), 'quoted-printable');
    return head + decodeMailText(bytes, { charset });
  });
