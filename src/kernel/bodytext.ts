import { isUtf8 } from 'node:buffer';
import { parse } from 'node:querystring';
import { withoutMark } from './jsonvalue.js';

export interface BodyFault {
  fault: 'empty' | 'charset' | 'not_json' | 'form';
  message: string;
}

export const isBodyFault = (value: object): value is BodyFault => 'fault' in value;

export const EMPTY_BODY: BodyFault = { fault: 'empty', message: 'The body is empty' };

/** `text/json` and `application/x-json` are older names. Some senders separate parameters by a comma. */
const JSON_TYPE = /^(?:application\/(?:[\w.+-]+\+|x-)?json|text\/(?:x-)?json)\s*(?:[;,]|\s|$)/i;

export const isJsonType = (type: string): boolean => JSON_TYPE.test(type.trim());

const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i;
const XML_ENCODING = /^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{1,40})/i;
const XML_BYTES = 300;
const UTF8 = 'utf-8';
const UTF16 = /^utf-?16(?:le|be)?$/;

export const parseCharset = (type: string | undefined): string | null =>
  CHARSET.exec(type ?? '')?.[1]?.toLowerCase() ?? null;

/**
 * Valid UTF-8 is always read as UTF-8, whatever charset is declared. Other bytes use the charset of the byte order mark, the
 * content type or the XML declaration.
 */
export const bodyText = (body: Buffer, charset: string | null): string | BodyFault => {
  if (body.length === 0) return EMPTY_BODY;
  const wide = markedCharset(body) ?? (UTF16.test(charset ?? '') ? charset : null);
  if (wide === null && isUtf8(body)) return withoutMark(body.toString('utf8'));
  return decodedText(body, wide ?? charset ?? declaredCharset(body)) ?? notText(charset);
};

const markedCharset = (body: Buffer): string | null => {
  if (body[0] === 0xff && body[1] === 0xfe) return 'utf-16le';
  return body[0] === 0xfe && body[1] === 0xff ? 'utf-16be' : null;
};

const declaredCharset = (body: Buffer): string | null =>
  XML_ENCODING.exec(body.toString('latin1', 0, XML_BYTES))?.[1] ?? null;

const decodedText = (bytes: Buffer, charset: string | null): string | null => {
  try {
    return new TextDecoder(charset ?? UTF8, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return null;
    throw error;
  }
};

const notText = (charset: string | null): BodyFault => ({
  fault: 'charset',
  message:
    charset === null
      ? 'The body is not valid UTF-8, and its content type declares no charset'
      : `The body is not valid UTF-8 (charset ${charset})`,
});

const unescaped = (text: string): Buffer =>
  Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const ESCAPED_BYTE = /%[89a-f]/i;
const MARK = 'ï»¿';

/** In their order. Escaped bytes that are not UTF-8 use the charset of the content type. */
export const formFields = (
  body: Buffer,
  charset: string | null,
): Iterable<[string, string]> | BodyFault => {
  const bytes = body.toString('latin1');
  const isText = ESCAPED_BYTE.test(bytes) ? isUtf8(unescaped(bytes)) : isUtf8(body);
  if (isText) return new URLSearchParams(withoutMark(body.toString('utf8')));
  if (charset === null || decodedText(unescaped(bytes), charset) === null) {
    return notText(charset);
  }
  const decode = (escaped: string): string => decodedText(unescaped(escaped), charset) ?? '';
  const fields = parse(bytes.replace(MARK, ''), '&', '=', {
    decodeURIComponent: decode,
    maxKeys: 0,
  });
  return Object.entries(fields).flatMap(([name, value = '']) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
};
